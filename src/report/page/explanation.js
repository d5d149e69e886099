// SPDX-License-Identifier: Apache-2.0
// explanation.js: the page of one explanation.
"use strict";
(() => {
  const { data, el, main } = cbx;
  main.append(el("h1", {}, data.title || ""));
})();
