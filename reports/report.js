(function () {
  "use strict";
  document.documentElement.classList.add("js");
  function each(selector, f) { Array.prototype.forEach.call(document.querySelectorAll(selector), f); }
  each(".cmd button", function (button) {
    button.addEventListener("click", function () {
      var code = button.parentNode.querySelector("code"), range = document.createRange();
      function said(word) { button.textContent = word; setTimeout(function () { button.textContent = "copy"; }, 1500); }
      function select() { range.selectNodeContents(code); var s = getSelection(); s.removeAllRanges(); s.addRange(range); said("selected"); }
      if (navigator.clipboard) { navigator.clipboard.writeText(code.textContent).then(function () { said("copied"); }, select); } else { select(); }
    });
  });
  each(".slider + input", function (input) {
    var box = input.previousElementSibling, over = box.querySelectorAll("img")[1];
    function move() { over.style.clipPath = "inset(0 0 0 " + input.value + "%)"; box.style.setProperty("--at", input.value + "%"); }
    input.addEventListener("input", move);
    move();
  });
  var filter = document.getElementById("filter");
  if (filter) {
    filter.addEventListener("input", function () {
      var words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      each("table.matrix tbody tr[data-case]", function (row) {
        var text = row.getAttribute("data-case").toLowerCase();
        row.hidden = !words.every(function (w) { return text.indexOf(w) !== -1; });
      });
      if (words.length) { each("details.level", function (d) { d.open = true; }); }
    });
  }
  var closed = [];
  addEventListener("beforeprint", function () { each("details:not([open]):not(.bulk)", function (d) { d.open = true; closed.push(d); }); });
  addEventListener("afterprint", function () { closed.forEach(function (d) { d.open = false; }); closed = []; });
}());
