# bash completion for combinex                            -*- shell-script -*-
# Made with: combinex help --completion bash

_combinex_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur"); }

_combinex_files() {
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -d -- "$cur"; compgen -f -X "$1" -- "$cur")
}

# Names of files never go through compgen -W, which would expand them.
_combinex_data() {
    local folder file IFS=: names=()
    local folders=${COMBINEX_DATA-}:${XDG_DATA_HOME:-$HOME/.local/share}/combinex
    folders+=:${XDG_CACHE_HOME:-$HOME/.cache}/combinex
    for folder in $folders; do
        for file in "$folder"/*.{safetensors,zip,npz} "$folder"/*/; do
            [[ -e $file ]] || continue
            file=${file%/} file=${file##*/} file=${file%.safetensors} file=${file%.zip}
            file=${file%.npz}
            [[ $file == "$cur"* ]] && names+=("$file")
        done
    done
    IFS=$' \t\n'
    _combinex_words "$builtin"
    names+=("${COMPREPLY[@]}")
    _combinex_files '!*.safetensors'
    for file in zip npz csv graphml gml pickle pkl content; do
        mapfile -t -O ${#names[@]} names < <(compgen -f -X "!*.$file" -- "$cur")
    done
    COMPREPLY+=("${names[@]}")
}

_combinex() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
    local word i command='' options='' valued='' operand=0 first=2
    local remote="cora citeseer pubmed cornell texas wisconsin actor wiki facebook blogcatalog flickr AIDS ENZYMES PROTEINS_full COIL-DEL MUTAG PROTEINS NCI1 DD Mutagenicity BZR COX2 DHFR Cuneiform Fingerprint IMDB-BINARY syn1 treecycles-pgx treegrid-pgx amazon-computers amazon-photo coauthor-cs coauthor-physics ogbn-arxiv ogbn-products"
    local builtin="karate ba-shapes tree-cycles tree-grid erdos-renyi barabasi-albert"
    local commands="data train predict explain robust apply report bench help"
    COMPREPLY=()
    # bash splits --name=value into three words
    if [[ $cur == = ]]; then
        cur=
    elif [[ $prev == = ]]; then
        prev=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    if ((COMP_CWORD == 1)); then
        _combinex_words "$commands --help --version"
        return
    fi
    command=${COMP_WORDS[1]}
    case $command in
    data)
        if ((COMP_CWORD == 2)); then
            _combinex_words "list info check convert fetch generate formats --help"
            return
        fi
        command+=" ${COMP_WORDS[2]}"
        first=3
        ;;
    esac
    case "$command $prev" in
    "data info --format") _combinex_words "auto safetensors tu planetoid geom-gcn attributed ogb linqs npz motif-pickle csv graphml gml"; return ;;
    "data info --task") _combinex_words "auto node graph"; return ;;
    "data info --label-column") return ;;
    "data info --sidecar") return ;;
    "data check --format") _combinex_words "auto safetensors tu planetoid geom-gcn attributed ogb linqs npz motif-pickle csv graphml gml"; return ;;
    "data check --task") _combinex_words "auto node graph"; return ;;
    "data check --label-column") return ;;
    "data check --sidecar") return ;;
    "data convert --format") _combinex_words "auto safetensors tu planetoid geom-gcn attributed ogb linqs npz motif-pickle csv graphml gml"; return ;;
    "data convert --task") _combinex_words "auto node graph"; return ;;
    "data convert --label-column") return ;;
    "data convert --sidecar") return ;;
    "data convert --to") _combinex_words "auto safetensors graphml gexf dot csv npz"; return ;;
    "data fetch --from") return ;;
    "data fetch --sha256") return ;;
    "data fetch --timeout") return ;;
    "data generate --nodes") return ;;
    "data generate --degree") return ;;
    "data generate --features") return ;;
    "data generate --classes") return ;;
    "data generate --motifs") return ;;
    "data generate --seed") return ;;
    "data generate --output" | "data generate -o") _combinex_files ''; return ;;
    "train --model") _combinex_words "auto gcn cheb graphconv sage gin gat"; return ;;
    "train --layers") return ;;
    "train --hidden") return ;;
    "train --order") return ;;
    "train --aggregation") _combinex_words "add mean max"; return ;;
    "train --heads") return ;;
    "train --negative-slope") return ;;
    "train --mlp-hidden") return ;;
    "train --eps") return ;;
    "train --head") _combinex_words "auto last cat"; return ;;
    "train --head-hidden") return ;;
    "train --pool") _combinex_words "mean sum max"; return ;;
    "train --dropout") return ;;
    "train --epochs") return ;;
    "train --learning-rate") return ;;
    "train --weight-decay") return ;;
    "train --clip") return ;;
    "train --batch") return ;;
    "train --split") _combinex_words "random kfold public"; return ;;
    "train --train-share") return ;;
    "train --val-share") return ;;
    "train --folds") return ;;
    "train --fold") return ;;
    "train --patience") return ;;
    "train --standardise") _combinex_words "auto on off"; return ;;
    "train --seed") return ;;
    "train --threads") return ;;
    "train --format") _combinex_words "auto safetensors tu planetoid geom-gcn attributed ogb linqs npz motif-pickle csv graphml gml"; return ;;
    "train --task") _combinex_words "auto node graph"; return ;;
    "train --label-column") return ;;
    "train --sidecar") return ;;
    "train --output" | "train -o") _combinex_files ''; return ;;
    "predict --node") return ;;
    "predict --graph") return ;;
    "predict --threads") return ;;
    "predict --output" | "predict -o") _combinex_files ''; return ;;
    "predict --format") _combinex_words "auto safetensors tu planetoid geom-gcn attributed ogb linqs npz motif-pickle csv graphml gml"; return ;;
    "predict --task") _combinex_words "auto node graph"; return ;;
    "predict --label-column") return ;;
    "predict --sidecar") return ;;
    "predict --inputs") return ;;
    "predict --scores") _combinex_words "auto classes probabilities labels label-chances number"; return ;;
    "predict --label") return ;;
    "predict --classes") return ;;
    "explain --node") return ;;
    "explain --graph") return ;;
    "explain --limit") return ;;
    "explain --explainer") _combinex_words "combinex random-edges random-features ego cf-gnn cff unr minimal moexp rcexplainer clear d4"; return ;;
    "explain --target") return ;;
    "explain --epochs") return ;;
    "explain --patience") return ;;
    "explain --lr") return ;;
    "explain --optimiser") _combinex_words "adam sgd adadelta"; return ;;
    "explain --momentum") return ;;
    "explain --edges") _combinex_words "directed undirected"; return ;;
    "explain --edits") return ;;
    "explain --add-weight") return ;;
    "explain --add-candidates") return ;;
    "explain --kinds") _combinex_words "data auto"; return ;;
    "explain --min-edges") return ;;
    "explain --budget") return ;;
    "explain --time-limit") return ;;
    "explain --threads") return ;;
    "explain --seed") return ;;
    "explain --total-cfs") return ;;
    "explain --trained") return ;;
    "explain --stopping-threshold") return ;;
    "explain --max-edits") return ;;
    "explain --features-to-vary") return ;;
    "explain --immutable-features") return ;;
    "explain --permitted-range") return ;;
    "explain --only-up") return ;;
    "explain --only-down") return ;;
    "explain --step") return ;;
    "explain --if-changed") return ;;
    "explain --one-hot") return ;;
    "explain --immutable-nodes") return ;;
    "explain --protected-edges") return ;;
    "explain --as") _combinex_words "anybody self"; return ;;
    "explain --keep") _combinex_words "any no-isolated connected molecule"; return ;;
    "explain --elements") return ;;
    "explain --bonds") return ;;
    "explain --plausible") return ;;
    "explain --add-at") _combinex_words "any target"; return ;;
    "explain --add-within") return ;;
    "explain --add-to") return ;;
    "explain --max-degree") return ;;
    "explain --max-added") return ;;
    "explain --max-removed") return ;;
    "explain --policy") _combinex_words "linear exponential sinusoidal dynamic constant features edges"; return ;;
    "explain --alpha") return ;;
    "explain --decay") return ;;
    "explain --select") _combinex_words "loss edits"; return ;;
    "explain --random-keep") return ;;
    "explain --cf-gnn-beta") return ;;
    "explain --cf-gnn-clip") return ;;
    "explain --cf-gnn-distance") _combinex_words "soft hard"; return ;;
    "explain --cf-gnn-pull") _combinex_words "target away"; return ;;
    "explain --cff-lr") return ;;
    "explain --cff-lambda") return ;;
    "explain --cff-alpha") return ;;
    "explain --cff-gamma") return ;;
    "explain --cff-complement") _combinex_words "masked whole"; return ;;
    "explain --cff-scores") _combinex_words "log probability"; return ;;
    "explain --unr-neighbours") return ;;
    "explain --unr-rollouts") return ;;
    "explain --unr-patience") return ;;
    "explain --unr-expansion") return ;;
    "explain --unr-exploration") return ;;
    "explain --unr-restart") return ;;
    "explain --beam") return ;;
    "explain --candidates") return ;;
    "explain --rebuilds") return ;;
    "explain --start") _combinex_words "factual both"; return ;;
    "explain --cost") _combinex_words "edits distance both"; return ;;
    "explain --edge-cost") return ;;
    "explain --node-cost") return ;;
    "explain --feature-cost") return ;;
    "explain --prove") return ;;
    "explain --prove-gap") return ;;
    "explain --robustness") return ;;
    "explain --moexp-size") return ;;
    "explain --moexp-most") return ;;
    "explain --rcexplainer-epochs") return ;;
    "explain --rcexplainer-patience") return ;;
    "explain --rcexplainer-batch") return ;;
    "explain --rcexplainer-rows") return ;;
    "explain --rcexplainer-walks") return ;;
    "explain --rcexplainer-lr") return ;;
    "explain --rcexplainer-size") return ;;
    "explain --rcexplainer-entropy") return ;;
    "explain --clear-epochs") return ;;
    "explain --clear-batch") return ;;
    "explain --clear-rows") return ;;
    "explain --clear-samples") return ;;
    "explain --clear-lr") return ;;
    "explain --clear-features") return ;;
    "explain --clear-edges") return ;;
    "explain --clear-kl") return ;;
    "explain --clear-oracle") return ;;
    "explain --d4-epochs") return ;;
    "explain --d4-batch") return ;;
    "explain --d4-rows") return ;;
    "explain --d4-samples") return ;;
    "explain --d4-layers") return ;;
    "explain --d4-width") return ;;
    "explain --d4-lr") return ;;
    "explain --d4-decay") return ;;
    "explain --d4-noise") return ;;
    "explain --d4-edges") return ;;
    "explain --d4-oracle") return ;;
    "explain --format") _combinex_words "auto safetensors tu planetoid geom-gcn attributed ogb linqs npz motif-pickle csv graphml gml"; return ;;
    "explain --task") _combinex_words "auto node graph"; return ;;
    "explain --label-column") return ;;
    "explain --sidecar") return ;;
    "explain --inputs") return ;;
    "explain --scores") _combinex_words "auto classes probabilities labels label-chances number"; return ;;
    "explain --label") return ;;
    "explain --classes") return ;;
    "explain --preset") _combinex_words "none paper minimal cf-gnn-trees cf-gnn-ba-shapes"; return ;;
    "explain --output" | "explain -o") _combinex_files ''; return ;;
    "explain --summary") _combinex_files ''; return ;;
    "explain --trace") _combinex_files ''; return ;;
    "explain --html") _combinex_files ''; return ;;
    "explain --svg") _combinex_files ''; return ;;
    "explain --png") _combinex_files ''; return ;;
    "explain --replay") _combinex_files ''; return ;;
    "robust --node") return ;;
    "robust --graph") return ;;
    "robust --output" | "robust -o") _combinex_files ''; return ;;
    "robust --edits") _combinex_words "remove add both"; return ;;
    "robust --edges") _combinex_words "directed undirected"; return ;;
    "robust --target") return ;;
    "robust --budget") return ;;
    "robust --share") return ;;
    "robust --local-budget") return ;;
    "robust --local-strength") return ;;
    "robust --time-limit") return ;;
    "robust --threads") return ;;
    "robust --format") _combinex_words "auto safetensors tu planetoid geom-gcn attributed ogb linqs npz motif-pickle csv graphml gml"; return ;;
    "robust --task") _combinex_words "auto node graph"; return ;;
    "robust --label-column") return ;;
    "robust --sidecar") return ;;
    "robust --inputs") return ;;
    "robust --scores") _combinex_words "auto classes probabilities labels label-chances number"; return ;;
    "robust --label") return ;;
    "robust --classes") return ;;
    "apply --output" | "apply -o") _combinex_files ''; return ;;
    "apply --line") return ;;
    "apply --to") _combinex_words "auto safetensors graphml gexf dot csv npz"; return ;;
    "apply --format") _combinex_words "auto safetensors tu planetoid geom-gcn attributed ogb linqs npz motif-pickle csv graphml gml"; return ;;
    "apply --task") _combinex_words "auto node graph"; return ;;
    "apply --label-column") return ;;
    "apply --sidecar") return ;;
    "report --output" | "report -o") _combinex_files ''; return ;;
    "report --line") return ;;
    "report --target") return ;;
    "report --format") _combinex_words "auto safetensors tu planetoid geom-gcn attributed ogb linqs npz motif-pickle csv graphml gml"; return ;;
    "report --task") _combinex_words "auto node graph"; return ;;
    "report --label-column") return ;;
    "report --sidecar") return ;;
    "report --inputs") return ;;
    "report --scores") _combinex_words "auto classes probabilities labels label-chances number"; return ;;
    "report --label") return ;;
    "report --classes") return ;;
    "bench --data") return ;;
    "bench --out") return ;;
    "bench --html") _combinex_files ''; return ;;
    "bench --models") return ;;
    "bench --explainers") return ;;
    "bench --folds") return ;;
    "bench --samples") return ;;
    "bench --protocol") _combinex_words "published meant"; return ;;
    "bench --preset") _combinex_words "paper none"; return ;;
    "bench --epochs") return ;;
    "bench --train-epochs") return ;;
    "bench --time-limit") return ;;
    "bench --unr-rollouts") return ;;
    "bench --published-faults") return ;;
    "bench --seed") return ;;
    "bench --jobs") return ;;
    "bench --rows-of") return ;;
    "bench --format") _combinex_words "auto safetensors tu planetoid geom-gcn attributed ogb linqs npz motif-pickle csv graphml gml"; return ;;
    "bench --task") _combinex_words "auto node graph"; return ;;
    "bench --label-column") return ;;
    "bench --sidecar") return ;;
    esac
    case $command in
    "data list")
        options="--json -q --quiet -h --help "
        valued=""
        ;;
    "data info")
        options="--format --task --symmetric --label-column --sidecar --copy --json -q --quiet -h --help "
        valued="--format --task --label-column --sidecar "
        ;;
    "data check")
        options="--format --task --symmetric --label-column --sidecar --copy --json -q --quiet -h --help "
        valued="--format --task --label-column --sidecar "
        ;;
    "data convert")
        options="--format --task --symmetric --label-column --sidecar --copy --to --json -q --quiet -h --help "
        valued="--format --task --label-column --sidecar --to "
        ;;
    "data fetch")
        options="--from --sha256 --timeout --overwrite --json -q --quiet -h --help "
        valued="--from --sha256 --timeout "
        ;;
    "data generate")
        options="--nodes --degree --features --classes --motifs --seed -o --output --json -q --quiet -h --help "
        valued="--nodes --degree --features --classes --motifs --seed -o --output "
        ;;
    "data formats")
        options="--json -q --quiet -h --help "
        valued=""
        ;;
    "train")
        options="--model --layers --hidden --order --aggregation --heads --average-heads --negative-slope --no-self-loops --mlp-hidden --eps --train-eps --residual --batch-norm --head --head-hidden --pool --dropout --epochs --learning-rate --weight-decay --clip --batch --split --train-share --val-share --folds --fold --patience --standardise --seed --threads --format --task --symmetric --label-column --sidecar --copy -o --output --reproducible --json -q --quiet -h --help "
        valued="--model --layers --hidden --order --aggregation --heads --negative-slope --mlp-hidden --eps --head --head-hidden --pool --dropout --epochs --learning-rate --weight-decay --clip --batch --split --train-share --val-share --folds --fold --patience --standardise --seed --threads --format --task --label-column --sidecar -o --output "
        ;;
    "predict")
        options="--node --graph --all --threads -o --output --reproducible --format --task --symmetric --label-column --sidecar --copy --inputs --scores --label --classes --json -q --quiet -h --help "
        valued="--node --graph --threads -o --output --format --task --label-column --sidecar --inputs --scores --label --classes "
        ;;
    "explain")
        options="--node --graph --all --test-set --limit --explainer --target --epochs --patience --lr --optimiser --momentum --edges --edits --add-weight --add-candidates --kinds --min-edges --budget --time-limit --threads --seed --total-cfs --trained --stopping-threshold --max-edits --features-to-vary --immutable-features --permitted-range --only-up --only-down --step --if-changed --one-hot --immutable-nodes --protected-edges --own-features --own-edges --as --keep-edges --keep --elements --bonds --plausible --add-at --add-within --add-to --max-degree --max-added --max-removed --policy --alpha --decay --select --random-keep --cf-gnn-beta --cf-gnn-clip --cf-gnn-distance --cf-gnn-pull --cff-lr --cff-lambda --cff-alpha --cff-gamma --cff-complement --cff-scores --unr-neighbours --unr-rollouts --unr-patience --unr-expansion --unr-exploration --unr-restart --beam --candidates --rebuilds --start --cost --edge-cost --node-cost --feature-cost --diverse --prove --prove-gap --robustness --moexp-size --moexp-most --rcexplainer-epochs --rcexplainer-patience --rcexplainer-batch --rcexplainer-rows --rcexplainer-walks --rcexplainer-lr --rcexplainer-size --rcexplainer-entropy --clear-epochs --clear-batch --clear-rows --clear-samples --clear-lr --clear-features --clear-edges --clear-kl --clear-oracle --d4-epochs --d4-batch --d4-rows --d4-samples --d4-layers --d4-width --d4-lr --d4-decay --d4-noise --d4-edges --d4-oracle --format --task --symmetric --label-column --sidecar --copy --inputs --scores --label --classes --preset -o --output --resume --summary --trace --html --svg --png --details --reproducible --replay --json -q --quiet -h --help "
        valued="--node --graph --limit --explainer --target --epochs --patience --lr --optimiser --momentum --edges --edits --add-weight --add-candidates --kinds --min-edges --budget --time-limit --threads --seed --total-cfs --trained --stopping-threshold --max-edits --features-to-vary --immutable-features --permitted-range --only-up --only-down --step --if-changed --one-hot --immutable-nodes --protected-edges --as --keep --elements --bonds --plausible --add-at --add-within --add-to --max-degree --max-added --max-removed --policy --alpha --decay --select --random-keep --cf-gnn-beta --cf-gnn-clip --cf-gnn-distance --cf-gnn-pull --cff-lr --cff-lambda --cff-alpha --cff-gamma --cff-complement --cff-scores --unr-neighbours --unr-rollouts --unr-patience --unr-expansion --unr-exploration --unr-restart --beam --candidates --rebuilds --start --cost --edge-cost --node-cost --feature-cost --prove --prove-gap --robustness --moexp-size --moexp-most --rcexplainer-epochs --rcexplainer-patience --rcexplainer-batch --rcexplainer-rows --rcexplainer-walks --rcexplainer-lr --rcexplainer-size --rcexplainer-entropy --clear-epochs --clear-batch --clear-rows --clear-samples --clear-lr --clear-features --clear-edges --clear-kl --clear-oracle --d4-epochs --d4-batch --d4-rows --d4-samples --d4-layers --d4-width --d4-lr --d4-decay --d4-noise --d4-edges --d4-oracle --format --task --label-column --sidecar --inputs --scores --label --classes --preset -o --output --summary --trace --html --svg --png --replay "
        ;;
    "robust")
        options="--node --graph -o --output --edits --edges --target --budget --share --local-budget --local-strength --decide --time-limit --threads --format --task --symmetric --label-column --sidecar --copy --inputs --scores --label --classes --json -q --quiet -h --help "
        valued="--node --graph -o --output --edits --edges --target --budget --share --local-budget --local-strength --time-limit --threads --format --task --label-column --sidecar --inputs --scores --label --classes "
        ;;
    "apply")
        options="-o --output --line --force --to --format --task --symmetric --label-column --sidecar --copy --json -q --quiet -h --help "
        valued="-o --output --line --to --format --task --label-column --sidecar "
        ;;
    "report")
        options="-o --output --line --target --format --task --symmetric --label-column --sidecar --copy --inputs --scores --label --classes --json -q --quiet -h --help "
        valued="-o --output --line --target --format --task --label-column --sidecar --inputs --scores --label --classes "
        ;;
    "bench")
        options="--data --out --html --resume --dry-run --models --explainers --folds --samples --protocol --preset --epochs --train-epochs --time-limit --unr-rollouts --published-faults --seed --jobs --rows-of --tables-only --reproducible --format --task --symmetric --label-column --sidecar --copy --json -q --quiet -h --help "
        valued="--data --out --html --models --explainers --folds --samples --protocol --preset --epochs --train-epochs --time-limit --unr-rollouts --published-faults --seed --jobs --rows-of --format --task --label-column --sidecar "
        ;;
    "help")
        options="--json -q --quiet -h --help "
        valued=""
        ;;
    esac
    for ((i = first; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $word == = ]]; then
            ((i++))
        elif [[ $word == -* ]]; then
            [[ " $valued " == *" $word "* && ${COMP_WORDS[i + 1]} != = ]] && ((i++))
        else
            ((operand++))
        fi
    done
    if [[ $cur == -* ]]; then
        _combinex_words "$options"
        return
    fi
    case "$command $operand" in
    "data info 0") _combinex_data ;;
    "data check 0") _combinex_data ;;
    "data convert 0") _combinex_data ;;
    "data convert 1") _combinex_files '' ;;
    "data fetch 0") _combinex_words "$remote" ;;
    "data generate 0") _combinex_words "$builtin" ;;
    "train 0") _combinex_data ;;
    "predict 0") _combinex_data ;;
    "predict 1") _combinex_files '!*.safetensors' ;;
    "explain 0") _combinex_data ;;
    "explain 1") _combinex_files '!*.safetensors' ;;
    "robust 0") _combinex_data ;;
    "robust 1") _combinex_files '!*.safetensors' ;;
    "apply 0") _combinex_data ;;
    "apply 1") _combinex_files '' ;;
    "report 0") _combinex_files '' ;;
    "report 1") _combinex_data ;;
    "report 2") _combinex_files '!*.safetensors' ;;
    "help 0") _combinex_words "$commands" ;;
    "help 1") : ;;
    esac
}

complete -F _combinex combinex
