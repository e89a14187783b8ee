// What waits for a person: an approval, an action card of an app, a connection that is missing.

import { ask, path, user } from "/dev/api.js";
import { clock, el, folded, pairs, pre, pretty } from "/dev/dom.js";

const DECIDED = {
  approved: "approved",
  denied: "said no",
  answered: "answered",
  skipped: "skipped",
  cancelled: "taken back",
  expired: "Nobody answered in time",
};

/** Each card's input, for the line that it becomes. */
const inputs = new WeakMap();

/** The card of an open input; `wants` is the credential that its app takes. */
export function card(input, { wants } = {}) {
  return fill(el("article", {}), input, wants, "");
}

/** Draw an input on a card, with what the server said against an answer. */
function fill(made, input, wants, fault) {
  made.className = "card";
  inputs.set(made, input);
  made.setAttribute("aria-label", `Waits for an answer: ${input.title ?? input.tool}`);
  const answer = answerer(made, input, wants);
  const parts = input.kind === "action" ? action(input, answer)
    : input.kind === "connect" ? connect(input, answer, wants)
    : approval(input, answer, made);
  made.replaceChildren(...parts, el("p", { className: "small bad fault", role: "alert", text: fault }));
  return made;
}

/** A card as the one line that it becomes: who decided, what, and when. */
export function settled(made, resolved, at) {
  // An input says with `by` who may answer it; the event that closes it, who did.
  const who = (resolved.answeredBy ?? resolved.by ?? "").replace(/^user:/, "").split(" through ")[0];
  const nobody = !who || who === "system" || resolved.status === "expired";
  const input = inputs.get(made) ?? {};
  const what = resolved.press ? pressed(input, resolved)
    // A card is cancelled by a button of its own, which a message in the place of an answer is not.
    : resolved.status === "cancelled" && input.kind === "action" && !nobody ? "cancelled"
    : DECIDED[resolved.status] ?? resolved.status;
  const words = nobody ? what : `${who} ${what}`;
  const note = resolved.note ? `: ${resolved.note}` : "";
  // Focus that stood on a button must not fall back to the top of the page.
  const focused = made.contains(document.activeElement);
  made.className = "note";
  made.removeAttribute("aria-label");
  made.replaceChildren(el("p", { text: `${words} · ${clock(at)}${note}` }));
  if (focused) document.getElementById("words").focus();
}

/** Sends an answer once; what the server says against it stands on the card. */
function answerer(made, input, wants) {
  return async (body) => {
    const controls = [...made.querySelectorAll("button, input")];
    for (const one of controls) one.disabled = true;
    try {
      const stands = await ask("POST", path`/v1/inputs/${input.id}/answer`, { user: user(), ...body });
      settled(made, stands, stands.answeredAt);
    } catch (error) {
      const stands = error.problem?.input;
      if (stands && stands.status !== "open") {
        settled(made, stands, stands.answeredAt);
        return;
      }
      for (const one of controls) one.disabled = false;
      // The request is another one by now: it is shown as it stands, before it is answered.
      if (stands) fill(made, stands, wants, error.message);
      else made.querySelector(".fault").textContent = error.message;
    }
  };
}

function button(text, work, className = "") {
  return el("button", { type: "button", className, text, on: { click: work } });
}

// --- an approval ----------------------------------------------------------------------------

function approval(input, answer, made) {
  const line = input.line ?? {};
  const destructive = line.danger === "cannot be undone";
  if (destructive) made.classList.add("destructive");
  const request = input.request ?? {};
  return [
    el("div", { className: "platform" },
      el("p", {}, el("strong", { text: `${line.act} · ${line.danger}` })),
      el("p", { className: "small", text: `on ${line.host} ${input.account ? `as ${input.account}` : "with the user's credential"}` })),
    el("p", { className: "title" }, title(input)),
    input.arguments?.length ? pairs(input.arguments.map((one) => [one.title, one.text])) : null,
    ...preview(input),
    el("p", { className: "small", text: `Asked because ${input.reason}.` }),
    folded("The exact request",
      pre(`${request.method} ${request.url}`),
      Object.keys(request.headers ?? {}).length ? pre(pretty(request.headers)) : null,
      request.body === null || request.body === undefined ? null : pre(pretty(request.body)),
      el("p", { className: "small mono", text: `digest ${input.digest}` })),
    ...verbs(input, answer, destructive),
  ].filter(Boolean);
}

function title(input) {
  const parts = input.titleParts?.length ? input.titleParts : [{ text: input.title }];
  return parts.map((part) => el(part.inserted ? "q" : "span", { text: part.text }));
}

function preview(input) {
  if (input.previewFailure) {
    return [el("p", { className: "small bad", text: `The preview could not be read: ${input.previewFailure}` })];
  }
  if (input.preview === undefined || input.preview === null) return [];
  const shown = typeof input.preview === "object" && !Array.isArray(input.preview)
    ? pairs(Object.entries(input.preview).slice(0, 20))
    : pre(pretty(input.preview));
  return [el("div", {}, el("p", { className: "small", text: "What it is about, read just now" }), shown)];
}

/** The buttons; none of them has the focus by itself, so that no key approves by chance. */
function verbs(input, answer, destructive) {
  if (input.by === "operator") {
    return [el("p", { className: "small", text: "Waits for an operator of the workspace, and this page is none." })];
  }
  const other = input.by === "other" ? el("input", { type: "text", value: "somebody-else" }) : null;
  const note = el("input", { type: "text", maxlength: "2000" });
  const again = input.rememberable ? el("input", { type: "checkbox" }) : null;
  const as = () => (other ? { user: other.value.trim() || "somebody-else" } : {});
  const yes = () => answer({
    decision: "approve",
    digest: input.digest,
    ...(again?.checked ? { remember: "session" } : {}),
    ...as(),
  });
  const no = () => answer({ decision: "deny", ...(note.value.trim() ? { note: note.value.trim() } : {}), ...as() });
  note.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && note.value.trim()) no();
  });
  return [
    other ? el("label", { className: "field" }, el("span", { text: "It is for somebody else than the user. Answer as" }), other) : null,
    again ? el("label", { className: "check" }, again, el("span", { text: "Yes for the rest of this conversation" })) : null,
    el("label", { className: "field" }, el("span", { text: "Why not (optional; the agent reads it)" }), note),
    el("div", { className: "buttons" },
      button(input.verb ?? input.tool, yes, destructive ? "danger" : "primary"),
      button("Not now", no)),
  ];
}

// --- an action card of an app ---------------------------------------------------------------

/** The platform's words for what is destructive. */
const GONE = "cannot be undone";
const VARIANTS = { primary: "primary", danger: "danger" };

/** The platform's words first, then the app's, then its buttons, then the platform's. None of them
 * has the focus by itself. */
function action(input, answer) {
  const line = input.line ?? {};
  const shown = input.card ?? {};
  const there = shown.assignee ? shown.assignee.name || shown.assignee.computerId : null;
  const buttons = buttonsOf(input);
  const worst = buttons.filter((one) => one.does?.danger === GONE)
    .map((one) => `“${one.label}” ${one.does.act.toLowerCase()} on ${one.does.host}: ${one.does.danger}.`);
  const dangerous = buttons.filter((one) => one.variant === "danger").map((one) => `“${one.label}”`);
  const presses = el("div", { className: "buttons" },
    buttons.map((one) => button(one.label, () => answer({ press: one.id }), VARIANTS[one.variant] ?? "")));
  return [
    el("div", { className: "platform" },
      el("p", {}, el("strong", { text: `${line.act} · ${line.danger}` })),
      el("p", { className: "small", text: `asked by ${input.app} on ${line.host}` })),
    el("section", { className: "app", "aria-label": "The app's words" },
      el("p", { className: "title", text: shown.title ?? input.title }),
      shown.description ? el("p", { className: "words", text: shown.description }) : null,
      there ? null : presses),
    ...(there ? [el("p", {}, el("strong", { text: `Continue on ${there}.` }))] : [
      ...worst.map((words) => el("p", {}, el("strong", { text: words }))),
      dangerous.length ? el("p", { className: "small", text: `The app marks ${dangerous.join(" and ")} as dangerous.` }) : null,
      folded("What each button does", pairs(buttons.map((one) => [one.label, whatItDoes(one)]))),
    ]),
    el("div", { className: "buttons own" },
      button("Skip", () => answer({ skip: true }), "quiet"),
      button("Cancel", () => answer({ cancel: true }), "quiet"),
      el("p", { className: "small", text: "Skip: the agent goes on without it. Cancel: the agent stops." })),
  ].filter(Boolean);
}

function buttonsOf(input) {
  return (input.card?.elements ?? []).filter((one) => one.type === "button");
}

/** What a press does; what is sent is part of it. */
function whatItDoes({ input, target, does }) {
  const given = JSON.stringify(input === undefined ? {} : input);
  if (!target) return `tells the agent ${given}`;
  const words = does ? `${does.act} · ${does.danger} · ${does.host} · ` : "";
  if (target.name) return `${words}runs ${target.name} with ${given}`;
  const where = target.url ?? `${target.path} of the app's component ${target.component}`;
  return `${words}calls ${target.method} ${where} with ${given}`;
}

/** The words for a press: which button, and where it was pressed. */
function pressed(input, resolved) {
  const label = buttonsOf(input).find((one) => one.id === resolved.press)?.label ?? resolved.press;
  const { computerId, name } = input.card?.assignee ?? {};
  const device = resolved.device ? ` on ${(resolved.device === computerId && name) || resolved.device}` : "";
  return `pressed “${label}”${device}`;
}

// --- a connection ---------------------------------------------------------------------------

function connect(input, answer, wants) {
  return [
    el("p", { className: "title", text: `${input.app} waits until ${user()} is connected to it.` }),
    connectForm(input.app, wants ?? "bearer"),
    el("p", { className: "small", text: "It goes on by itself then." }),
    el("div", { className: "buttons" },
      button("Go on without it", () => answer({ decision: "deny" }), "quiet"),
      button("Stop", () => answer({ cancel: true }), "quiet")),
  ];
}

/** Takes a credential of the user for an app; it is kept nowhere in this page. */
export function connectForm(app, type, done = () => {}) {
  const secret = el("input", { type: "password", autocomplete: "off", required: true });
  const said = el("p", { className: "small", role: "status" });
  const words = { basic: "user:password", apiKey: "API key", bearer: "Token" }[type] ?? "Token";
  const form = el("form", { autocomplete: "off" },
    el("label", { className: "field" }, el("span", { text: `${words} of ${user()} for ${app}` }), secret),
    el("div", { className: "buttons" }, el("button", { type: "submit", text: "Connect" })), said);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const [name, ...rest] = secret.value.split(":");
    const body = type === "basic"
      ? { type, username: name, password: rest.join(":") }
      : { type, [type === "apiKey" ? "key" : "token"]: secret.value };
    secret.value = "";
    try {
      await ask("PUT", path`/v1/connections/${app}/${user()}`, body);
      said.textContent = "Connected.";
      done();
    } catch (error) {
      said.textContent = error.message;
    }
  });
  return form;
}
