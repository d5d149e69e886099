#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # lib.bash sets and reads some of these
# Tables as people have them, and what is said of those that cannot be read.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

mkdir raw empty
printf 'source,target\na,b\nb,c\nc,a\n' > raw/edges.csv
printf 'id,income,since,city,good\na,"1,200",2024-03-15,Rome,1\nb,n/a,2024-03-16,,0\nc,900,2024-03-17,Oslo,1\n' > raw/features.csv
run data check raw --label-column good --symmetric
check "missing values are warnings, with what stands for them" all status_is 0 , \
    out_has "warning: raw/features.csv: column 'income': 1 value is missing; the median, 900, stands for it" , \
    out_has "column 'city': 1 value is missing, which is a category" , out_has '^0 errors'
run data info raw --label-column good --json
check "the column of classes is named" out_has '"classes": \[\{"class": 0, "count": 1\}, \{"class": 1, "count": 2\}\]'
run train raw -o model.safetensors --quiet
check "data without classes is told where they would be" fails_with 1 'the data has 0: tables have them in a column called label, or in one that --label-column names'
run data check empty
check "a folder with nothing of ours in it is not 'no data set'" \
    all status_is 1 , not err_has 'no data set' , out_has '^error: empty: not a data set of a known format'
printf '{"bounds": {"income": [0, 1000]}}' > raw/combinex.json
run data check raw
check "bounds that the data breaks are an error, said once, with names" all status_is 1 , out_has \
    "error: 1 feature value lies outside its feature's bounds, the first 1200, feature 'income' of node 'a', where the bounds are 0 to 1000"
rm raw/combinex.json
sed -i 's/^c,900/c,nine/' raw/features.csv
printf 'd,800,17.03.2024,Oslo,1\ne,700,2024-03-18,Oslo,1\n' >> raw/features.csv
run data check raw --label-column good --symmetric
check "a slip among numbers is told with its line and column" all status_is 0 , \
    out_has "warning: raw/features.csv, line 4: column 'income' is 'nine', which is no number as most others are: all of the column counts as texts"
check "so is one among days" out_has "line 5: column 'since' is '17.03.2024', which is no day \(2024-03-15\) as most others are"
run data convert raw raw.safetensors --label-column good --symmetric
check "and convert says that there is something to read" all status_is 0 , \
    out_has "^  5 warnings: 'combinex data check raw' with the same options tells them$"
run data info raw --label good
check "a column of classes under another option's name gets that suggested" fails_with 2 'unknown option --label; did you mean --label-column'
run data check raw --label-column goood
check "a column that is not there gets one suggested" \
    all status_is 1 , out_has "error: --label-column: raw/features.csv has no column 'goood'; did you mean 'good'"
mkdir named featureless
cp raw/edges.csv named/links.csv; cp raw/features.csv named/customers.csv; cp raw/features.csv featureless
run data check named
check "a table that nobody reads is told of" all status_is 0 , out_has "warning: named: 'customers.csv' is not read, and there are no features: call it features.csv"
run data check featureless
check "that there is no edge list is told" all status_is 1 , out_has 'not a data set of a known format: .* tables need one of edges, edges.csv or links.csv'
run train karate --epochs 1 --quiet -o karate.model
run predict karate karate.model --label good
check "--label of a model that has none names the column's option" fails_with 1 "label is for programs; a table's column of classes is label-column"
mkdir -p classless
printf 'source,target\na,b\nb,c\n' > classless/edges.csv
printf 'id,income\na,1\nb,2\nc,3\n' > classless/features.csv
run data check classless --symmetric
check "that there are no classes is said" all status_is 0 , out_has 'warning: there are no classes, .* column called label, or in one that --label-column names'
run data convert classless classless.safetensors --symmetric
check "and by convert" all status_is 0 , out_has 'there are no classes, and nothing to train on'
finish
