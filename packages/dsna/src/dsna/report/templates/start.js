/** Theme button; the page follows the system's theme until it is pressed. */
function themeButton() {
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  try { chosen = localStorage.getItem("dsna-theme"); } catch { /* pages from disk may have no storage */ }
  const show = () => {
    const dark = chosen ? chosen === "dark" : system.matches;
    if (chosen) document.documentElement.dataset.theme = chosen;
    button.textContent = dark ? "Light theme" : "Dark theme";
  };
  button.addEventListener("click", () => {
    chosen = (chosen ? chosen === "dark" : system.matches) ? "light" : "dark";
    try { localStorage.setItem("dsna-theme", chosen); } catch { /* as above */ }
    show();
  });
  system.addEventListener("change", show);
  show();
}

themeButton();
const decideBody = document.getElementById("decide-body");
if (!classification) decideBalance(decideBody);
else if (classes.length === 2) decideTwo(decideBody);
else decideMany(decideBody);
whySection(document.getElementById("why-body"));
