// The page: who it speaks for, what is served, its faults, and the two panes.

import { ask, enter } from "/dev/api.js";
import { Chat } from "/dev/chat.js";
import { Playground } from "/dev/playground.js";
import { dress, el } from "/dev/sdk.js";
import { speak } from "/dev/speaking.js";

const LOOK_MS = 2000;
const OPEN = "Open the link that `remit dev` printed in the terminal; it opens once. Press Enter there for another one.";
const at = (id) => document.getElementById(id);

let state = { apps: [], components: [], revision: -1, model: null, noModel: null };

function gate(words) {
  at("panes").replaceChildren(el("div", { class: "gate" }, el("h2", { text: "Not open" }), el("p", { text: words })));
  at("panes").classList.add("alone");
  at("tabs").hidden = true;
}

const said = (title, words) => el("div", {}, el("h2", { text: title }), el("pre", { text: words, tabindex: "0" }));

function describe() {
  const apps = state.apps.map((one) => (one.version ? `${one.name} ${one.version}` : one.name)).join(", ");
  const components = state.components.map((one) => `${one.name} ${one.running ? "at" : "ended, was at"} ${one.url}`);
  at("about").textContent = [apps, `as ${state.user}`, state.model ?? "no model", ...components].filter(Boolean).join(" · ");
  const faulty = state.apps.filter((one) => one.fault).map((one) =>
    said(one.version ? `${one.file} has a fault; the last good one goes on` : `${one.file} has a fault`, one.fault));
  const warned = state.apps.filter((one) => one.warning).map((one) => said(`${one.file}: a route is not answered`, one.warning));
  at("faults").replaceChildren(...faulty, ...warned);
}

function choose(pane) {
  for (const name of ["chat", "playground"]) {
    const chosen = name === pane;
    at(name).classList.toggle("chosen", chosen);
    const tab = at(`tab-${name}`);
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
  }
}

function tabs() {
  const names = ["chat", "playground"];
  names.forEach((name, index) => {
    const tab = at(`tab-${name}`);
    tab.addEventListener("click", () => choose(name));
    tab.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      const other = names[1 - index];
      choose(other);
      at(`tab-${other}`).focus();
    });
  });
}

/** Take what the server says of the run; false where this page is of another one. */
async function look(chat, playground) {
  let found;
  try {
    found = await ask("GET", "/dev/state");
  } catch (error) {
    at("about").textContent = error.message;
    // Another run of `remit dev`, with a store of its own, knows this key no more.
    if (error.status === 401) gate(OPEN);
    return error.status !== 401;
  }
  const changed = found.revision !== state.revision || found.model !== state.model;
  const first = state.revision < 0;
  state = found;
  describe();
  if (!changed) {
    playground.seen();
    return true;
  }
  await playground.load();
  chat.refresh();
  if (!first && !found.apps.some((one) => one.fault)) speak("The apps were loaded again.");
  return true;
}

async function begin() {
  // The playground draws with parts of the chat, whose looks they have.
  dress(document);
  tabs();
  // The link of another run differs from this page's address in its code alone: nothing reloads.
  addEventListener("hashchange", () => location.reload());
  let held = null;
  try {
    held = await enter();
  } catch (error) {
    gate(error.message);
    return;
  }
  if (!held) {
    gate(OPEN);
    return;
  }
  document.title = `${held.brand} dev`;
  at("brand").textContent = `${held.brand} dev`;
  const chat = new Chat(() => state);
  const playground = new Playground(at("bench"), () => state);
  if (!(await look(chat, playground))) return;
  choose(state.noModel ? "playground" : "chat");
  chat.start();
  for (;;) {
    await new Promise((done) => setTimeout(done, LOOK_MS));
    if (!document.hidden && !(await look(chat, playground))) return;
  }
}

begin();
