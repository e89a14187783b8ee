// Made by `npm run build` in sdk/ from sdk/src/dev; changes belong there.

// src/wire/json.ts
function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// src/client/chat/dom.ts
function el(tag, props = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name === "text") {
      made.textContent = visible(String(value));
    } else if (name === "on") {
      for (const [type, work] of Object.entries(value)) {
        made.addEventListener(type, work);
      }
    } else if (value === true) {
      made.setAttribute(name, "");
    } else if (value !== void 0 && value !== false && value !== null) {
      made.setAttribute(name, String(value));
    }
  }
  made.append(...flat(children));
  return made;
}
function flat(children) {
  return children.flatMap(
    (child) => Array.isArray(child) ? flat(child) : child ? [child] : []
  );
}
var UNSEEN = String.raw`\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{DI}\ufff9-\ufffb`;
var SHOWN = new RegExp(
  `(?![	
︎️])[${UNSEEN}]|(?<![^\\s${UNSEEN}])[︎️]`,
  "gu"
);
function visible(text2) {
  return text2.replaceAll("\r\n", "\n").replace(SHOWN, (one) => {
    const code = (one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    return `⟨U+${code}⟩`;
  });
}
function pretty(value) {
  return JSON.stringify(value, null, 2) ?? "";
}
function pairs(rows) {
  return el(
    "dl",
    { class: "pairs" },
    rows.flatMap(([name, value]) => [
      el("dt", { text: name }),
      el("dd", { text: typeof value === "string" ? value : pretty(value) })
    ])
  );
}
function folded(word, ...inside2) {
  return el("details", {}, el("summary", { text: word }), ...inside2);
}
function pre(text2) {
  return el("pre", { text: text2, tabindex: "0" });
}
function scrolled(table3, name) {
  return el("div", { class: "table", tabindex: "0", role: "region", "aria-label": name }, table3);
}
function button(text2, work, kind = "") {
  return el("button", { type: "button", class: kind || void 0, text: text2, on: { click: work } });
}
var MAX_ADDRESS = 8192;
function absolute(address2) {
  if (typeof address2 !== "string" || address2.length > MAX_ADDRESS) {
    return null;
  }
  if (!/^https?:\/\//i.test(address2) || !URL.canParse(address2)) {
    return null;
  }
  const url = new URL(address2);
  return url.username || url.password || visible(address2) !== address2 ? null : url;
}
function link(url, label) {
  return el("a", { href: url.href, target: "_blank", rel: "noopener noreferrer", text: label });
}
function took(ms) {
  return ms < 1e4 ? `${(Math.max(0, ms) / 1e3).toFixed(1)} s` : `${Math.round(ms / 1e3)} s`;
}
function clock(at, locale) {
  return new Date(at).toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit" });
}

// src/client/chat/cards.ts
var GONE = "cannot be undone";
var CLIENT = "the user's client";
var MOST_PREVIEWED = 20;
var MAX_NOTE = 2e3;
function card(input2, desk) {
  const made = el("article", {});
  fill(made, input2, desk, "");
  return made;
}
function settled({ input: input2, resolved }, { texts, locale }) {
  const line = el("p", { class: "note" });
  if (resolved) {
    const who = (resolved.by ?? "").replace(/^user:/, "").split(" through ")[0] ?? "";
    const isNobody = !who || who === "system" || resolved.status === "expired";
    const what = decision(input2, resolved, isNobody, texts);
    const note = resolved.note ? `: ${resolved.note}` : "";
    const said2 = isNobody ? what : `${who} ${what}`;
    line.append(
      el("span", { text: `${said2} · ${clock(resolved.at, locale)} · ${input2.title}${note}` })
    );
  }
  return line;
}
function decision(input2, resolved, isNobody, texts) {
  if (resolved.status === "expired") {
    return texts.nobody;
  }
  if (resolved.press) {
    return pressed(input2, resolved.press, resolved.device, texts);
  }
  return resolved.status === "cancelled" && input2.kind === "action" && !isNobody ? texts.cancelled : texts.decided[resolved.status] ?? resolved.status;
}
function fill(made, input2, desk, fault2) {
  const isGone = input2.kind === "approval" && input2.line?.danger === GONE;
  made.className = isGone ? "card destructive" : "card";
  made.setAttribute("aria-label", desk.texts.waits(input2.title));
  const answer = answerer(made, input2, desk);
  const draw = { approval: approving(desk), action, connect: connecting(desk) }[input2.kind];
  const said2 = el("p", { class: "small bad fault", role: "alert", text: fault2 });
  made.replaceChildren(...draw(input2, answer, desk.texts).filter(isNode), said2);
}
function isNode(one) {
  return one !== null;
}
function answerer(made, input2, desk) {
  return async (body) => {
    const controls = [
      ...made.querySelectorAll("button, input")
    ];
    const lock = (isLocked) => {
      for (const one of controls) {
        one.disabled = isLocked;
      }
    };
    const root = made.getRootNode();
    const focused = controls.find((one) => one === root.activeElement);
    if (focused) {
      made.tabIndex = -1;
      made.focus({ preventScroll: true });
    }
    lock(true);
    made.setAttribute("aria-busy", "true");
    try {
      const stands = await desk.answer(input2, body);
      if (stands) {
        fill(made, stands, desk, desk.texts.changed);
      }
    } catch (error) {
      lock(false);
      focused?.focus({ preventScroll: true });
      const said2 = made.querySelector(".fault");
      if (said2) {
        said2.textContent = error.message;
      }
    }
    made.removeAttribute("aria-busy");
  };
}
function approving({ standsIn, approvalPart }) {
  return (input2, answer, texts) => {
    const { line, arguments: given = [], reason } = input2;
    return [
      el(
        "div",
        { class: "platform" },
        el(
          "p",
          {},
          el("strong", {
            text: line ? `${texts.platform(line.act)} · ${texts.platform(line.danger)}` : input2.tool
          })
        ),
        line ? el("p", { class: "small", text: where(line.host, input2, texts) }) : null
      ),
      el("p", { class: "title" }, title(input2)),
      given.length > 0 ? pairs(given.map((one) => [one.title, one.text])) : null,
      approvalPart(input2),
      preview(input2, texts),
      reason ? el("p", { class: "small", text: texts.because(reason) }) : null,
      request(input2, texts),
      ...verbs(input2, answer, texts, standsIn)
    ];
  };
}
function where(host, { account }, texts) {
  return host === CLIENT ? texts.inPage : texts.on(host, account ?? "");
}
function title({ titleParts, title: whole2 }) {
  const parts = titleParts?.length ? titleParts : [{ text: whole2, inserted: false }];
  return parts.map((part) => el(part.inserted ? "q" : "span", { text: part.text }));
}
function preview({ preview: found, previewFailure }, texts) {
  if (previewFailure) {
    return el("p", { class: "small bad", text: texts.noPreview(previewFailure) });
  }
  if (found === void 0 || found === null) {
    return null;
  }
  const drawn2 = isRecord(found) ? pairs(Object.entries(found).slice(0, MOST_PREVIEWED)) : pre(pretty(found));
  return el("div", {}, el("p", { class: "small", text: texts.preview }), drawn2);
}
function request({ request: frozen, digest }, texts) {
  if (!isRecord(frozen)) {
    return null;
  }
  const { method, url, headers, body } = frozen;
  return folded(
    texts.request,
    pre(`${method} ${url}`),
    isRecord(headers) && Object.keys(headers).length > 0 ? pre(pretty(headers)) : null,
    body === null || body === void 0 ? null : pre(typeof body === "string" ? body : pretty(body)),
    el("p", { class: "small", text: digest })
  );
}
function verbs(input2, answer, texts, standsIn) {
  if (input2.by === "operator" || input2.by === "other" && !standsIn) {
    const words = input2.by === "operator" ? texts.forOperator : texts.forOther;
    return [el("p", { class: "small", text: words })];
  }
  const isGone = input2.line?.danger === GONE;
  const note = el("input", { type: "text", maxlength: MAX_NOTE });
  const again = input2.rememberable ? el("input", { type: "checkbox" }) : null;
  const yes = () => answer({
    decision: "approve",
    digest: input2.digest,
    ...again?.checked && { remember: "session" }
  });
  const no = () => {
    const words = note.value.trim();
    answer({ decision: "deny", ...words && { note: words } });
  };
  note.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.isComposing && note.value.trim()) {
      event.preventDefault();
      no();
    }
  });
  return [
    again && el("label", { class: "check" }, again, el("span", { text: texts.remember })),
    el("label", { class: "field" }, el("span", { text: texts.whyNot }), note),
    el(
      "div",
      { class: "buttons" },
      button(input2.verb ?? input2.tool, yes, isGone ? "danger" : "primary"),
      button(texts.notNow, no)
    )
  ];
}
function action(input2, answer, texts) {
  const { line } = input2;
  const shown3 = input2.card ?? {};
  const device = assignee(input2);
  const buttons = buttonsOf(input2);
  return [
    el(
      "div",
      { class: "platform" },
      line ? el(
        "p",
        {},
        el("strong", { text: `${texts.platform(line.act)} · ${texts.platform(line.danger)}` })
      ) : null,
      el("p", { class: "small", text: texts.askedBy(input2.app ?? "", line?.host ?? "") })
    ),
    el(
      "section",
      { class: "app", "aria-label": texts.appsWords },
      el("p", { class: "title", text: String(shown3["title"] ?? input2.title) }),
      shown3["description"] ? el("p", { class: "words", text: String(shown3["description"]) }) : null,
      device === null ? presses(buttons, answer) : null
    ),
    ...device === null ? warnings(buttons, texts) : [el("p", {}, el("strong", { text: texts.continueOn(device) }))],
    el(
      "div",
      { class: "buttons own" },
      button(texts.skip, () => answer({ skip: true }), "quiet"),
      button(texts.cancel, () => answer({ cancel: true }), "quiet"),
      el("p", { class: "small", text: texts.skipCancel })
    )
  ];
}
function assignee({ card: shown3 }) {
  const found = shown3?.["assignee"];
  return isRecord(found) ? String(found["name"] || found["computerId"]) : null;
}
function presses(buttons, answer) {
  const kinds = { primary: "primary", danger: "danger" };
  return el(
    "div",
    { class: "buttons" },
    buttons.map(
      (one) => button(one.label, () => answer({ press: one.id }), kinds[one.variant ?? ""] ?? "")
    )
  );
}
function warnings(buttons, texts) {
  const worst = buttons.flatMap(
    ({ label, does }) => does?.danger === GONE ? [`“${label}”: ${texts.platform(does.act)} · ${does.host} · ${texts.platform(does.danger)}`] : []
  );
  const marked = buttons.filter(({ variant }) => variant === "danger").map(({ label }) => `“${label}”`);
  return [
    ...worst.map((words) => el("p", {}, el("strong", { text: words }))),
    ...marked.length > 0 ? [el("p", { class: "small", text: texts.marksDangerous(marked.join(", ")) })] : [],
    folded(texts.whatButtonsDo, pairs(buttons.map((one) => [one.label, whatItDoes(one, texts)])))
  ];
}
function buttonsOf({ card: shown3 }) {
  const elements = shown3?.["elements"];
  return (Array.isArray(elements) ? elements : []).filter(
    (one) => isRecord(one) && one["type"] === "button"
  );
}
function whatItDoes({ input: input2 = {}, target, does }, texts) {
  const given = JSON.stringify(input2);
  if (!target) {
    return texts.tellsAgent(given);
  }
  const line = does ? `${texts.platform(does.act)} · ${texts.platform(does.danger)} · ${does.host} · ` : "";
  if (target["name"]) {
    return line + texts.runs(String(target["name"]), given);
  }
  const { url, path: path2, component } = target;
  const where2 = url ?? texts.ofComponent(String(path2), String(component));
  return line + texts.calls(`${target["method"]} ${where2}`, given);
}
function pressed(input2, press, device, texts) {
  const label = buttonsOf(input2).find((one) => one.id === press)?.label ?? press;
  return texts.pressed(label, device ? assignee(input2) ?? device : "");
}
function connecting({ connectPart }) {
  return (input2, answer, texts) => [
    el("p", { class: "title", text: texts.connect(input2.app ?? "") }),
    connectPart(input2),
    el("p", { class: "small", text: texts.goesOn }),
    el(
      "div",
      { class: "buttons" },
      button(texts.goOnWithout, () => answer({ decision: "deny" }), "quiet"),
      button(texts.stop, () => answer({ cancel: true }), "quiet")
    )
  ];
}

// src/client/chat/following.ts
var NEAR_PX = 80;
var Follower = class {
  /** The way to the newest; hidden for who is there. */
  button;
  #scroller;
  #observer = null;
  #isAtEnd = true;
  /** Where it was scrolled to when that was looked at last. */
  #top = 0;
  /** The card that is too tall and whose head was shown: from there its reader goes on alone. */
  #headed = null;
  /** @param content what grows inside of `scroller`; `resized` is told when either changes. */
  constructor(scroller, content, words, resized2) {
    this.#scroller = scroller;
    this.button = button(words, () => this.jump(), "to-end");
    this.button.hidden = true;
    scroller.addEventListener("scroll", () => this.#scrolled());
    if (typeof ResizeObserver === "function") {
      this.#observer = new ResizeObserver(() => {
        resized2();
        this.follow();
      });
      this.#observer.observe(content);
      this.#observer.observe(scroller);
    }
  }
  /** It may have grown. */
  follow() {
    if (this.#isAtEnd) {
      this.#toEnd();
    }
  }
  /** To the newest, wherever one is. */
  jump() {
    this.#isAtEnd = true;
    this.#headed = null;
    this.#toEnd();
  }
  close() {
    this.#observer?.disconnect();
  }
  /** What grew below, and an event that comes late, take nobody away from the end: going up does. */
  #scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.#scroller;
    if (scrollHeight - scrollTop - clientHeight < NEAR_PX) {
      this.#isAtEnd = true;
    } else if (scrollTop < this.#top - 1) {
      this.#isAtEnd = false;
    }
    this.#top = scrollTop;
    this.button.hidden = this.#isAtEnd;
  }
  /** What is approved is read before its button: where not all of a card fits, its head is shown. */
  #toEnd() {
    const scroller = this.#scroller;
    const card2 = scroller.querySelector(".transcript > :last-child > .card");
    if (!card2 || card2.offsetHeight <= scroller.clientHeight) {
      this.#headed = null;
      scroller.scrollTop = scroller.scrollHeight;
    } else if (card2 !== this.#headed) {
      this.#headed = card2;
      const above = card2.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
      scroller.scrollTop += above;
    }
    this.#top = scroller.scrollTop;
    this.button.hidden = this.#isAtEnd;
  }
};

// src/core/plain.ts
var MAX_DEPTH = 200;
var NotPlainError = class extends Error {
  name = "NotPlainError";
};
function plainJson(value) {
  if (value === void 0) {
    return "null";
  }
  check(value, "", []);
  return JSON.stringify(value);
}
function check(value, place, around) {
  switch (typeof value) {
    case "string":
    case "boolean":
      return;
    case "number":
      if (!Number.isFinite(value)) {
        throw fault(place, `is ${value}`, "give a number, or null");
      }
      return;
    case "object":
      if (value !== null) {
        checkParts(value, place, around);
      }
      return;
    case "undefined":
      throw fault(place, "is undefined", "leave the field out, or give null");
    default:
      throw fault(place, `is a ${typeof value}`, "give text or a number");
  }
}
function checkParts(value, place, around) {
  if (around.includes(value)) {
    throw fault(place, "leads back to what holds it", "give an id in its place");
  }
  if (around.length >= MAX_DEPTH) {
    throw fault(place, `lies deeper than ${MAX_DEPTH} levels`, "give less");
  }
  const isPlain = Array.isArray(value) ? isPlainList(value) : isPlainObject(value);
  if (!isPlain) {
    const kind = value.constructor?.name || "object with a prototype of its own";
    throw fault(place, `is a ${kind}`, "give plain fields, a date as text");
  }
  if (Object.getOwnPropertySymbols(value).length > 0) {
    throw fault(place, "has a field that is named by a symbol", "name it by text");
  }
  if (Array.isArray(value) && Object.keys(value).length > value.length) {
    throw fault(place, "is a list with fields beside its items", "give an object");
  }
  const inside2 = [...around, value];
  const names = Array.isArray(value) ? Array.from(value.keys(), String) : Object.keys(value);
  for (const name of names) {
    check(value[name], place ? `${place}.${name}` : name, inside2);
  }
}
function isPlainList(value) {
  return Array.isArray(Object.getPrototypeOf(value));
}
function isPlainObject(value) {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || isRecord(prototype) && Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "isPrototypeOf");
}
function fault(place, what, mend) {
  return new NotPlainError(`${place ? `its field ${place}` : "it"} ${what}: ${mend}`);
}
function wordsOf(error) {
  return (error instanceof Error ? error.message : String(error)) || "It failed without a message.";
}

// src/transport/http.ts
var RETRIES_MS = [300, 700, 1500, 3e3, 5e3];
var MAX_RETRY_AFTER_MS = 1e4;
var SIGNED_OUT = "You are not signed in here any more. Sign in again, or reload the page.";
var AWAY = /* @__PURE__ */ new Set([0, 502, 503, 504]);
var TOKEN = /^[\w\-.~+/]+=*$/;
var RemitError = class extends Error {
  name = "RemitError";
  /** Of HTTP; 0 where there was no answer. */
  status;
  /** Stable, one of those that `remit explain` knows; empty where there is none. */
  code;
  /** The problem document, as the server sent it. */
  problem;
  /** After which the server wants to be asked again; null where it did not say. */
  retryAfterMs;
  constructor(message2, status, problem = {}, retryAfterMs = null) {
    super(message2);
    this.status = status;
    this.code = typeof problem["code"] === "string" ? problem["code"] : "";
    this.problem = problem;
    this.retryAfterMs = retryAfterMs;
  }
};
var Http = class {
  #base;
  #getToken;
  #fetch;
  #token = null;
  #warned = "";
  constructor({ server, getToken, fetch: given }) {
    this.#base = server.replace(/\/+$/, "");
    this.#getToken = getToken;
    this.#fetch = given ?? ((...sent) => globalThis.fetch(...sent));
  }
  /**
   * Ask for JSON. Where the server is away it is asked again, and what is asked happens once.
   *
   * @throws RemitError
   */
  async ask(method, path2, body, options = {}) {
    const headers = { Accept: "application/json", ...options.headers };
    if (method === "POST") {
      headers["Idempotency-Key"] = randomId();
    }
    const init = { method, headers, keepalive: options.isLast ?? false };
    if (body !== void 0) {
      headers["Content-Type"] = "application/json";
      init.body = JSON.stringify(body);
    }
    if (options.signal) {
      init.signal = options.signal;
    }
    for (const wait of options.isLast ? [] : RETRIES_MS) {
      try {
        return await this.#json(path2, init);
      } catch (error) {
        const pause2 = pauseAfter(error, wait);
        if (pause2 === null || options.signal?.aborted) {
          throw error;
        }
        await sleep(pause2, options.signal);
      }
    }
    return this.#json(path2, init);
  }
  /**
   * An answer whose body is read as it comes.
   *
   * @throws RemitError
   */
  async open(path2, headers, signal) {
    return this.#good(path2, { headers, signal, cache: "no-store" });
  }
  /** The token is of no use any more: the next request asks for another. */
  forgetToken() {
    this.#token = null;
  }
  async #json(path2, init) {
    const answer = await this.#good(path2, init);
    try {
      const text2 = await answer.text();
      return text2 === "" ? null : JSON.parse(text2);
    } catch (error) {
      if (init.signal?.aborted) {
        throw error;
      }
      throw new RemitError("The answer of the server cannot be read.", 0);
    }
  }
  async #good(path2, init) {
    const token = this.#held();
    let answer = await this.#send(path2, init, await token);
    if (answer.status === 401) {
      if (this.#token === token) {
        this.#token = null;
      }
      answer = await this.#send(path2, init, await this.#held());
    }
    if (!answer.ok) {
      throw await refusal(answer);
    }
    return answer;
  }
  async #send(path2, init, token) {
    try {
      return await this.#fetch(this.#base + path2, {
        ...init,
        headers: { ...init.headers, Authorization: `Bearer ${token}` },
        credentials: "omit"
      });
    } catch (error) {
      if (init.signal?.aborted) {
        throw error;
      }
      throw new RemitError("The server cannot be reached.", 0);
    }
  }
  /** Whoever builds the page is told once; the person reads that the connection is lost. */
  #warn(error) {
    const words = `getToken: ${wordsOf(error)}`;
    if (words !== this.#warned) {
      this.#warned = words;
      console.warn(words);
    }
  }
  /** One question to the host at a time, whoever needs the token. */
  #held() {
    if (this.#token === null) {
      const asked = Promise.resolve().then(this.#getToken).then(checked);
      this.#token = asked.catch((error) => {
        this.#token = null;
        this.#warn(error);
        throw error;
      });
    }
    return this.#token;
  }
};
function checked(token) {
  const found = typeof token === "string" ? token.trim() : "";
  if (TOKEN.test(found)) {
    return found;
  }
  throw new RemitError("getToken gave no token.", 0);
}
async function refusal(answer) {
  const found = await answer.json().catch(() => null);
  const problem = isRecord(found) ? found : {};
  const detail = problem["detail"];
  const said2 = typeof detail === "string" ? detail : `The server answered ${answer.status}.`;
  const words = answer.status === 401 ? SIGNED_OUT : said2;
  const seconds = Number(answer.headers.get("Retry-After") ?? Number.NaN);
  return new RemitError(
    words,
    answer.status,
    problem,
    Number.isFinite(seconds) ? seconds * 1e3 : null
  );
}
function pauseAfter(error, wait) {
  if (!(error instanceof RemitError)) {
    return null;
  }
  if (error.status === 429) {
    const after = error.retryAfterMs ?? wait;
    return after > MAX_RETRY_AFTER_MS ? null : after;
  }
  return AWAY.has(error.status) || error.code === "idempotency_in_progress" ? wait : null;
}
function sleep(ms, signal) {
  return new Promise((done) => {
    if (signal?.aborted) {
      done();
      return;
    }
    const end2 = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end2);
      done();
    };
    const timer = setTimeout(end2, ms);
    signal?.addEventListener("abort", end2);
  });
}
function randomId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
function path(parts, ...values) {
  return String.raw({ raw: parts }, ...values.map(encodeURIComponent));
}

// src/client/chat/texts-en.ts
var en = {
  chat: "Chat",
  transcript: "Transcript",
  message: "Message",
  write: "Write a message",
  writeNext: "Say what comes next",
  writeInstead: "Say something else: this takes the request back",
  over: "This conversation is over",
  send: "Send",
  stop: "Stop",
  empty: "Say what you want done.",
  opening: "The conversation is being opened.",
  earlier: "Show earlier messages",
  toNewest: "To the newest",
  you: "You",
  agent: "Agent",
  thinks: (time) => `The agent thinks${time && ` · ${time}`}. Esc stops it.`,
  waitsForYou: "Waits for an answer.",
  waitsForPage: "Waits for a page of the app.",
  stopping: "Stopping …",
  next: "Comes next.",
  dropped: "Stopped before its turn.",
  lost: "The connection is lost. Trying again.",
  back: "Connected again.",
  offline: "You are offline. It goes on when you are back.",
  closed: "The conversation is closed.",
  stopped: "Stopped.",
  failed: "It has failed.",
  noModel: "The agent cannot answer now.",
  why: "Why",
  cutOff: "Cut off here.",
  notSent: (reason) => `Not sent. ${reason}`,
  again: "Try again",
  edit: "Edit",
  discard: "Discard",
  lendingFault: "The agent cannot use this page.",
  noApp: (app, reason) => `${app} cannot be used now: ${reason}`,
  noTool: (app, tool, reason) => `${app} offers no ${tool}: ${reason}`,
  atWork: "at work",
  progress: (status, polls) => `${status} · look ${polls}`,
  outcomes: {
    error: "failed",
    denied: "not done: it was refused",
    skipped: "skipped",
    expired: "not done: nobody answered in time",
    cancelled: "stopped",
    outcome_unknown: "not known"
  },
  unknown: "This may have happened. Check before trying again.",
  args: "Arguments",
  told: "What the agent was told",
  needed: (title2) => `An answer is needed. ${title2}`,
  waits: (title2) => `Waits for an answer: ${title2}`,
  signedOut: SIGNED_OUT,
  inPage: "in your page of the app",
  on: (host, account) => `on ${host}${account && ` as ${account}`}`,
  platform: (words) => words,
  because: (reason) => `Asked because ${reason}.`,
  askedBy: (app, host) => `asked by ${app} on ${host}`,
  request: "The exact request",
  preview: "What it is about, read just now",
  noPreview: (reason) => `There is no preview: ${reason}`,
  notNow: "Not now",
  whyNot: "Why not (optional; the agent reads it)",
  remember: "Yes for the rest of this conversation",
  forOperator: "Waits for an operator of the workspace.",
  forOther: "Waits for somebody else.",
  changed: "It has changed. Look at it again before you answer.",
  appsWords: "The app’s words",
  continueOn: (device) => `Continue on ${device}.`,
  marksDangerous: (labels) => `The app marks ${labels} as dangerous.`,
  whatButtonsDo: "What each button does",
  tellsAgent: (input2) => `tells the agent ${input2}`,
  runs: (what, input2) => `runs ${what} with ${input2}`,
  calls: (where2, input2) => `calls ${where2} with ${input2}`,
  ofComponent: (path2, component) => `${path2} of the app's component ${component}`,
  skip: "Skip",
  cancel: "Cancel",
  skipCancel: "Skip: the agent goes on without it. Cancel: the agent stops.",
  connect: (app) => `${app} waits until you are connected to it.`,
  goesOn: "It goes on by itself then.",
  goOnWithout: "Go on without it",
  decided: {
    approved: "approved",
    denied: "said no",
    answered: "answered",
    skipped: "skipped",
    cancelled: "taken back",
    expired: "nobody answered in time"
  },
  cancelled: "cancelled",
  pressed: (label, device) => `pressed “${label}”${device && ` on ${device}`}`,
  nobody: "Nobody answered in time",
  openLink: (host) => `Open ${host}`,
  copy: "Copy",
  wantsOpen: "The agent wants to open a page for you.",
  wantsCopy: "The agent wants to copy a text for you.",
  table: "Table",
  moreRows: (count) => `And ${count} more rows.`,
  before: "Before",
  after: "After",
  tooLong: "The rest is left out: it is too long.",
  noImage: "picture",
  page: (host) => `A page of the app, on ${host}`,
  openPage: "Open it in a tab",
  pageNotAbsolute: "The app’s page is not shown: its address is no absolute https one.",
  pageOwnOrigin: "The app’s page is not shown: it is on this page’s own origin.",
  pageMasked: "The app’s page is not shown again: its address was kept without its query.",
  pageBlocked: "The app’s page is not shown: this page may not frame its host.",
  widgetFolded: (name) => `${name}, folded`,
  widgetGone: (name) => `${name} is not on this page.`,
  widgetFailed: (name, reason) => `${name} cannot be drawn: ${reason}`,
  show: "Show"
};

// src/client/chat/texts-es.ts
var es = {
  chat: "Chat",
  transcript: "Conversación",
  message: "Mensaje",
  write: "Escribe un mensaje",
  writeNext: "Di qué viene después",
  writeInstead: "Di otra cosa: así se retira la solicitud",
  over: "Esta conversación ha terminado",
  send: "Enviar",
  stop: "Parar",
  empty: "Di qué quieres que se haga.",
  opening: "Se está abriendo la conversación.",
  earlier: "Mostrar mensajes anteriores",
  toNewest: "Ir a lo último",
  you: "Tú",
  agent: "Agente",
  thinks: (time) => `El agente piensa${time && ` · ${time}`}. Esc lo para.`,
  waitsForYou: "Espera una respuesta.",
  waitsForPage: "Espera una página de la aplicación.",
  stopping: "Parando …",
  next: "Viene después.",
  dropped: "Parado antes de su turno.",
  lost: "Se ha perdido la conexión. Reintentando.",
  back: "Conectado de nuevo.",
  offline: "No tienes conexión. Seguirá cuando vuelvas.",
  closed: "La conversación está cerrada.",
  stopped: "Parado.",
  failed: "Ha fallado.",
  noModel: "El agente no puede responder ahora.",
  why: "Por qué",
  cutOff: "Cortado aquí.",
  notSent: (reason) => `No enviado. ${reason}`,
  again: "Intentar de nuevo",
  edit: "Editar",
  discard: "Descartar",
  lendingFault: "El agente no puede usar esta página.",
  noApp: (app, reason) => `${app} no se puede usar ahora: ${reason}`,
  noTool: (app, tool, reason) => `${app} no ofrece ${tool}: ${reason}`,
  atWork: "en curso",
  progress: (status, polls) => `${status} · consulta ${polls}`,
  outcomes: {
    error: "ha fallado",
    denied: "no hecho: se ha rechazado",
    skipped: "omitido",
    expired: "no hecho: nadie respondió a tiempo",
    cancelled: "parado",
    outcome_unknown: "no se sabe"
  },
  unknown: "Puede que haya ocurrido. Compruébalo antes.",
  args: "Argumentos",
  told: "Lo que se dijo al agente",
  needed: (title2) => `Se necesita una respuesta. ${title2}`,
  waits: (title2) => `Espera una respuesta: ${title2}`,
  signedOut: "Ya no has iniciado sesión aquí. Inicia sesión o recarga la página.",
  inPage: "en tu página de la aplicación",
  on: (host, account) => `en ${host}${account && ` como ${account}`}`,
  platform: inSpanish,
  because: (reason) => `Se pregunta porque ${reason.split("; ").map(inSpanish).join("; ")}.`,
  askedBy: (app, host) => `lo pide ${app} en ${host}`,
  request: "La solicitud exacta",
  preview: "De qué se trata, leído ahora",
  noPreview: (reason) => `No hay vista previa: ${reason}`,
  notNow: "Ahora no",
  whyNot: "Por qué no (opcional; el agente lo lee)",
  remember: "Sí para el resto de esta conversación",
  forOperator: "Espera a un operador.",
  forOther: "Espera a otra persona.",
  changed: "Ha cambiado. Míralo otra vez.",
  appsWords: "Las palabras de la aplicación",
  continueOn: (device) => `Continúa en ${device}.`,
  marksDangerous: (labels) => `La aplicación marca ${labels} como peligroso.`,
  whatButtonsDo: "Qué hace cada botón",
  tellsAgent: (input2) => `dice al agente ${input2}`,
  runs: (what, input2) => `ejecuta ${what} con ${input2}`,
  calls: (where2, input2) => `llama a ${where2} con ${input2}`,
  ofComponent: (path2, component) => `${path2} del componente ${component} de la aplicación`,
  skip: "Omitir",
  cancel: "Cancelar",
  skipCancel: "Omitir: el agente sigue sin ello. Cancelar: el agente se para.",
  connect: (app) => `${app} espera hasta que estés conectado.`,
  goesOn: "Después sigue por sí solo.",
  goOnWithout: "Seguir sin ello",
  decided: {
    approved: "aprobó",
    denied: "dijo que no",
    answered: "respondió",
    skipped: "omitió",
    cancelled: "retirado",
    expired: "nadie respondió a tiempo"
  },
  cancelled: "canceló",
  pressed: (label, device) => `pulsó «${label}»${device && ` en ${device}`}`,
  nobody: "Nadie respondió a tiempo",
  openLink: (host) => `Abrir ${host}`,
  copy: "Copiar",
  wantsOpen: "El agente quiere abrirte una página.",
  wantsCopy: "El agente quiere copiarte un texto.",
  table: "Tabla",
  moreRows: (count) => `Y ${count} filas más.`,
  before: "Antes",
  after: "Después",
  tooLong: "El resto se omite: es demasiado largo.",
  noImage: "imagen",
  page: (host) => `Una página de la aplicación, en ${host}`,
  openPage: "Abrir en una pestaña",
  pageNotAbsolute: "La página no se muestra: su dirección no es https.",
  pageOwnOrigin: "La página no se muestra: está en el mismo origen que esta.",
  pageMasked: "La página no se muestra de nuevo: su dirección no se guarda entera.",
  pageBlocked: "La página no se muestra: aquí no se permite enmarcar su servidor.",
  widgetFolded: (name) => `${name}, plegado`,
  widgetGone: (name) => `${name} no está en esta página.`,
  widgetFailed: (name, reason) => `${name} no se puede dibujar: ${reason}`,
  show: "Mostrar"
};
function inSpanish(words) {
  return PLATFORM_ES[words] ?? words;
}
var PLATFORM_ES = {
  DELETES: "BORRA",
  "SETS SOMETHING OFF": "DESENCADENA ALGO",
  "ADDS OR CHANGES DATA": "AÑADE O CAMBIA DATOS",
  "CHANGES DATA": "CAMBIA DATOS",
  READS: "LEE",
  "NEEDS YOU": "TE NECESITA",
  "can be put right": "se puede corregir",
  "may be hard to put right": "puede ser difícil de corregir",
  "cannot be undone": "no se puede deshacer",
  "the app asks you to choose": "la aplicación te pide que elijas",
  "the app asks for a person's approval of this tool": "la aplicación pide que una persona lo apruebe",
  "the tool is destructive": "no se puede deshacer"
};

// src/client/chat/texts.ts
var SHIPPED = { en, es };
function localeOf(asked) {
  return asked ?? (document.documentElement.lang || navigator.language || "en");
}
function textsOf(locale, replaced = {}) {
  const language = locale.toLowerCase().split(/[-_]/)[0] ?? "";
  return { ...SHIPPED[language] ?? en, ...replaced };
}
function faultText(fault2, texts) {
  return fault2 === SIGNED_OUT ? texts.signedOut : fault2;
}

// src/client/chat/pending.ts
function outgoing({ id, text: text2, fault: fault2 }, connection, edit, texts) {
  const takenBack = () => {
    connection.discard(id);
    edit(text2);
  };
  return el(
    "div",
    { class: "turn user outgoing" },
    el("p", { class: "said", text: text2 }),
    fault2 === null ? null : el(
      "div",
      { class: "buttons" },
      el("p", {
        class: "small bad",
        role: "alert",
        text: texts.notSent(faultText(fault2, texts))
      }),
      button(texts.again, () => connection.retry(id), "quiet"),
      button(texts.edit, takenBack, "quiet"),
      button(texts.discard, () => connection.discard(id), "quiet")
    )
  );
}
function prompted(prompt, texts) {
  const isLink = prompt.kind === "open_url";
  return el(
    "article",
    { class: "card" },
    el("p", { text: isLink ? texts.wantsOpen : texts.wantsCopy }),
    el("pre", { text: prompt.value }),
    el(
      "div",
      { class: "buttons" },
      isLink ? opener(prompt, texts) : copier(prompt, texts),
      button(texts.notNow, prompt.refuse)
    )
  );
}
function opener({ value, done }, texts) {
  const url = new URL(value);
  const made = link(url, texts.openLink(url.host));
  made.className = "button primary";
  made.addEventListener("click", done);
  return made;
}
function copier({ value, done, refuse }, texts) {
  const copy = () => navigator.clipboard.writeText(value).then(done, refuse);
  return button(texts.copy, copy, "primary");
}

// src/client/chat/markdown.ts
var MAX_CHARACTERS = 16384;
var MAX_DEPTH2 = 4;
var MAX_COLUMNS = 20;
var FENCE = /^ {0,3}(`{3,}|~{3,})/;
var HEADING = /^ {0,3}#{1,6}[ \t]+(.*)$/;
var QUOTE = /^ {0,3}> ?(.*)$/;
var ITEM = /^( *)(?:[-*+]|(\d{1,9})[.)])[ \t]+(.*)$/;
var RULED = /^\s*\|?\s*:?-{1,100}:?\s*(\|\s*:?-{1,100}:?\s*){0,20}\|?\s*$/;
function markdown(text2, texts) {
  const lines = visible(text2.slice(0, MAX_CHARACTERS)).split("\n");
  const made = el("div", { class: "prose" }, blocks(lines, texts, 0));
  if (text2.length > MAX_CHARACTERS) {
    made.append(el("p", { class: "small", text: texts.tooLong }));
  }
  return made;
}
function blocks(lines, texts, depth) {
  const made = [];
  let words = [];
  const paragraph = () => {
    if (words.length > 0) {
      made.push(el("p", {}, inline(words.join("\n"))));
    }
    words = [];
  };
  for (let at = 0; at < lines.length; ) {
    const found = block(lines, at, texts, depth);
    if (found) {
      paragraph();
      made.push(found.node);
      at = found.next;
    } else {
      const line = (lines[at] ?? "").trim();
      if (line) {
        words.push(line);
      } else {
        paragraph();
      }
      at += 1;
    }
  }
  paragraph();
  return made;
}
function block(lines, at, texts, depth) {
  const line = lines[at] ?? "";
  const fence = FENCE.exec(line)?.[1];
  if (fence) {
    const end2 = lines.findIndex((one, index) => index > at && closes(one, fence));
    const last = end2 < 0 ? lines.length : end2;
    return { node: pre(lines.slice(at + 1, last).join("\n")), next: last + 1 };
  }
  const heading = HEADING.exec(line);
  if (heading) {
    return { node: el("h3", {}, inline(heading[1] ?? "")), next: at + 1 };
  }
  if (depth < MAX_DEPTH2 && QUOTE.test(line)) {
    return quote(lines, at, texts, depth);
  }
  if (ITEM.test(line)) {
    return list(lines, at);
  }
  return line.includes("|") && RULED.test(lines[at + 1] ?? "") && (lines[at + 1] ?? "").includes("|") ? table(lines, at, texts) : null;
}
function quote(lines, first, texts, depth) {
  const end2 = lines.findIndex((line, at) => at > first && !QUOTE.test(line));
  const next = end2 < 0 ? lines.length : end2;
  const inside2 = lines.slice(first, next).map((line) => QUOTE.exec(line)?.[1] ?? "");
  return { node: el("blockquote", { dir: "auto" }, blocks(inside2, texts, depth + 1)), next };
}
function closes(line, fence) {
  const words = line.trim();
  return words.length >= fence.length && words.replaceAll(fence[0] ?? "", "") === "";
}
function table(lines, first, texts) {
  const columns = cells(lines[first] ?? "");
  const rows = [];
  let at = first + 2;
  for (; at < lines.length && (lines[at] ?? "").includes("|"); at += 1) {
    const found = cells(lines[at] ?? "");
    rows.push(
      el(
        "tr",
        {},
        columns.map((_, index) => el("td", {}, inline(found[index] ?? "")))
      )
    );
  }
  const head = el(
    "tr",
    {},
    columns.map((text2) => el("th", { scope: "col" }, inline(text2)))
  );
  const made = el("table", {}, el("thead", {}, head), el("tbody", {}, rows));
  return { node: scrolled(made, texts.table), next: at };
}
function cells(line) {
  const inside2 = line.trim().replace(/^\|/, "").replace(/\|$/, "");
  return inside2.split("|").slice(0, MAX_COLUMNS).map((one) => one.trim());
}
function list(lines, first) {
  const levels = [];
  const items = [];
  let at = first;
  for (; at < lines.length; at += 1) {
    const found = ITEM.exec(lines[at] ?? "");
    const made = found && item(levels, found);
    if (made) {
      items.push(made);
    } else if (found || !goesOn(lines, at, items.at(-1))) {
      break;
    }
  }
  for (const { node, words } of items) {
    node.prepend(...inline(words.join("\n")));
  }
  return { node: levels[0]?.node ?? el("ul"), next: at };
}
function goesOn(lines, at, last) {
  const line = lines[at] ?? "";
  if (!line.trim()) {
    return ITEM.test(lines[at + 1] ?? "");
  }
  if (!/^\s/.test(line) || !(lines[at - 1] ?? "").trim()) {
    return false;
  }
  last?.words.push(line.trim());
  return true;
}
function item(levels, found) {
  const [, { length: indent } = "", number, words = ""] = found;
  while (levels.length > 1 && indent < (levels.at(-1)?.indent ?? 0)) {
    levels.pop();
  }
  const around = levels.at(-1);
  const isDeeper = around !== void 0 && indent >= around.indent + 2 && levels.length < MAX_DEPTH2;
  const tag = number === void 0 ? "ul" : "ol";
  if (!around || isDeeper || around.node.localName !== tag) {
    if (around && !isDeeper && levels.length === 1) {
      return null;
    }
    const node = el(tag, { dir: "auto", start: number === void 0 ? null : Number(number) });
    open(levels, { node, indent }, isDeeper);
  }
  const made = el("li");
  levels.at(-1)?.node.append(made);
  return { node: made, words: [words] };
}
function open(levels, level, isDeeper) {
  const around = levels.at(-1);
  if (isDeeper) {
    around?.node.lastElementChild?.append(level.node);
  } else if (around) {
    levels.pop();
    around.node.after(level.node);
  }
  levels.push(level);
}
var TOKEN2 = /\\([!-/:-@[-`{-~])|`+|!?\[|<(https?:\/\/[^\s<>]+)>|<[/!a-z][^<>]*>|https?:\/\/[^\s<>`*]+|\*{1,3}|_{1,3}/gi;
var LINK = /(!?)\[([^[\]]{0,1000})\]\(\s*<?((?:[^\s()<>]|\([^\s()]*\)){0,8192})>?(?:\s+"[^"]{0,1000}")?\s*\)/y;
var WORD = /[\p{L}\p{N}]/u;
var Line = class {
  nodes = [];
  #text;
  #depth;
  /** Marks that never close from here on. */
  #hopeless = /* @__PURE__ */ new Set();
  #done = 0;
  constructor(text2, depth) {
    this.#text = text2;
    this.#depth = depth;
  }
  read() {
    const token = new RegExp(TOKEN2);
    for (let found = token.exec(this.#text); found; found = token.exec(this.#text)) {
      this.#take(found);
      token.lastIndex = Math.max(this.#done, found.index + found[0].length);
    }
    if (this.#done < this.#text.length) {
      this.nodes.push(plain(this.#text.slice(this.#done)));
    }
    return this.nodes;
  }
  #take(found) {
    const [mark, escaped, address2] = found;
    const from = found.index;
    if (escaped !== void 0) {
      this.#put(plain(escaped), from, from + mark.length);
    } else if (mark[0] === "`") {
      this.#code(mark, from);
    } else if (mark.endsWith("[")) {
      this.#link(from);
    } else if (address2 || /^http/i.test(mark)) {
      this.#address(mark, address2, from);
    } else if (mark[0] !== "<" && this.#depth < MAX_DEPTH2) {
      this.#stress(mark, from);
    }
  }
  #put(node, from, to) {
    if (from > this.#done) {
      this.nodes.push(plain(this.#text.slice(this.#done, from)));
    }
    this.nodes.push(node);
    this.#done = to;
  }
  #code(mark, from) {
    const after = from + mark.length;
    const end2 = this.#hopeless.has(mark) ? -1 : endOfCode(this.#text, mark, after);
    if (end2 < 0) {
      this.#hopeless.add(mark);
    } else {
      this.#put(el("code", { text: this.#text.slice(after, end2) }), from, end2 + mark.length);
    }
  }
  #link(from) {
    LINK.lastIndex = from;
    const whole2 = LINK.exec(this.#text);
    if (whole2) {
      this.#put(linked(whole2), from, from + whole2[0].length);
    }
  }
  #address(mark, address2, from) {
    const bare = address2 ?? trimmed(mark);
    const url = absolute(bare);
    if (url) {
      this.#put(shown(url, bare), from, from + (address2 ? mark.length : bare.length));
    }
  }
  #stress(mark, from) {
    const end2 = this.#hopeless.has(mark) ? 0 : endOfMark(this.#text, mark, from);
    if (end2 === null) {
      this.#hopeless.add(mark);
    } else if (end2 > 0) {
      const inside2 = inline(this.#text.slice(from + mark.length, end2), this.#depth + 1);
      this.#put(stressed(mark.length, inside2), from, end2 + mark.length);
    }
  }
};
function inline(text2, depth = 0) {
  return new Line(text2, depth).read();
}
function plain(text2) {
  return document.createTextNode(text2);
}
function stressed(marks, nodes) {
  if (marks === 1) {
    return el("em", {}, nodes);
  }
  return el("strong", {}, marks === 3 ? el("em", {}, nodes) : nodes);
}
function trimmed(address2) {
  let end2 = address2.length;
  while (end2 > 0 && `.,:;!?'")]_`.includes(address2[end2 - 1] ?? " ")) {
    end2 -= 1;
  }
  return address2.slice(0, end2);
}
function endOfCode(text2, mark, after) {
  const run = /`+/g;
  run.lastIndex = after;
  for (let found = run.exec(text2); found; found = run.exec(text2)) {
    if (found[0] === mark) {
      return found.index;
    }
  }
  return -1;
}
function endOfMark(text2, mark, from) {
  const after = from + mark.length;
  const isUnder = mark[0] === "_";
  const isInWord = isUnder && WORD.test(text2[from - 1] ?? "");
  if (isInWord || /^\s?$/.test(text2[after] ?? "") || text2[after] === mark[0]) {
    return 0;
  }
  for (let end2 = text2.indexOf(mark, after); end2 >= 0; end2 = text2.indexOf(mark, end2 + 1)) {
    const beyond = text2[end2 + mark.length] ?? "";
    const before = text2[end2 - 1] ?? "";
    const isLonger = beyond === mark[0] || mark.length === 1 && before === mark;
    const opens = /\s/.test(before) || before === "\\" || isUnder && WORD.test(beyond);
    if (!isLonger && !opens) {
      return end2;
    }
  }
  return null;
}
function linked([written, image2, label = "", address2]) {
  const url = image2 ? null : absolute(address2);
  return url && label.trim() ? shown(url, label) : el("code", { text: written });
}
function shown(url, label) {
  const made = link(url, label);
  if (label === url.href || `${label}/` === url.href) {
    return made;
  }
  return el("span", {}, made, el("span", { class: "small", text: ` (${url.host})` }));
}

// src/client/chat/speaking.ts
var NEWS_MS = 1e4;
var MAX_SPOKEN = 400;
var MAX_NEW = 20;
var Speaker = class {
  node = el("p", { class: "unseen", role: "status", "aria-live": "polite" });
  #texts;
  constructor(texts) {
    this.#texts = texts;
  }
  tell(words) {
    this.node.textContent = visible(words).slice(0, MAX_SPOKEN);
  }
  /** A whole message, not its pieces; and what needs an answer. What happened before is no news. */
  news(before, now) {
    for (let at = Math.max(0, now.length - MAX_NEW); at < now.length; at += 1) {
      const entry2 = now[at];
      if (entry2 && entry2 !== before[at] && isNew(entry2)) {
        if (entry2.kind === "message" && entry2.role === "assistant" && entry2.at !== null) {
          this.tell(this.#read(entry2.text));
        } else if (entry2.kind === "input" && !entry2.resolved) {
          this.tell(this.#texts.needed(entry2.input.title));
        }
      }
    }
  }
  /** A text as one reads it out: without the marks of its Markdown. */
  #read(text2) {
    const blocks2 = markdown(text2.slice(0, MAX_SPOKEN * 2), this.#texts).children;
    return [...blocks2].map(({ textContent }) => textContent).join(" ");
  }
};
function isNew({ at }) {
  return at !== null && Date.now() - Date.parse(at) < NEWS_MS;
}

// src/client/chat/style.ts
var STYLE = `
:host {
  --accent: var(--remit-accent, light-dark(#0b5c8f, #78bdea));
  --on-accent: var(--remit-on-accent, light-dark(#ffffff, #10212c));
  --ground: var(--remit-ground, light-dark(#ffffff, #16181b));
  --raised: var(--remit-raised, light-dark(#f5f6f7, #1f2226));
  --ink: var(--remit-ink, light-dark(#1c1e21, #e6e8ea));
  --soft: var(--remit-soft, light-dark(#5c6268, #a2a9b0));
  --rule: var(--remit-rule, light-dark(#d5d9dd, #363b41));
  --bad: var(--remit-bad, light-dark(#a3261b, #ff9c8f));
  --read: var(--remit-text-size, 16px);
  --small: var(--remit-small-size, 13px);
  display: block;
  height: 100%;
  min-height: 0;
}
:host([hidden]) { display: none; }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
.chat { background: var(--ground); color: var(--ink); display: flex; flex-direction: column; font: 400 var(--read)/1.5 var(--remit-font, system-ui, sans-serif); height: 100%; min-height: 0; overflow-wrap: anywhere; position: relative; text-align: start; }
h3 { font-size: var(--read); font-weight: 600; margin: 0; }
p { margin: 0; }
p, h3, li, td, th { unicode-bidi: plaintext; }
pre, code { font: 400 var(--small)/1.5 var(--remit-mono, ui-monospace, monospace); }
pre { direction: ltr; margin: 0; max-height: 320px; overflow: auto; white-space: pre-wrap; }
a { color: var(--accent); }
.small { color: var(--soft); font-size: var(--small); }
.bad { color: var(--bad); }
.unseen { clip-path: inset(50%); height: 1px; overflow: hidden; position: absolute; width: 1px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.scroll:focus { outline: none; }

button, .button, input, textarea { background: var(--ground); border: 1px solid var(--rule); border-radius: 4px; color: inherit; font: inherit; min-height: 44px; padding: 8px 12px; }
button, .button { cursor: pointer; flex: none; font-weight: 600; text-decoration: none; }
.button { display: inline-block; }
.buttons { align-items: center; display: flex; flex-wrap: wrap; gap: 8px; }
.buttons button { flex: 0 1 auto; }
button:hover, .button:hover { border-color: var(--soft); }
button:disabled, [aria-disabled="true"], textarea:disabled, input:disabled { color: var(--soft); cursor: default; }
.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
.primary:disabled { background: var(--raised); border-color: var(--rule); color: var(--soft); }
.danger { border: 2px solid var(--bad); color: var(--bad); }
.quiet { font-weight: 400; }
textarea { field-sizing: content; flex: 1 1 180px; line-height: 1.5; max-height: 160px; min-width: 0; resize: none; }
input[type="checkbox"] { accent-color: var(--accent); height: 20px; min-height: 0; width: 20px; }

.scroll { flex: 1; min-height: 0; overflow: auto; overscroll-behavior: contain; padding: 0 16px 16px; }
.column { margin-inline: auto; max-width: 620px; }
.line { margin-inline: auto; max-width: 652px; min-height: 28px; padding: 4px 16px; width: 100%; }
.composer { align-items: end; display: flex; flex-wrap: wrap; gap: 8px; margin-inline: auto; max-width: 652px; padding: 0 16px 16px; width: 100%; }
.to-end { align-self: center; margin: -52px 0 8px; z-index: 1; }
.earlier { display: flex; justify-content: center; padding-top: 16px; }
.empty { padding-top: 16px; }

.turn { margin-top: 16px; }
.said { white-space: pre-wrap; }
.turn.user { background: var(--raised); border: 1px solid var(--rule); border-radius: 4px; padding: 8px 12px; }
.turn.outgoing { border-style: dashed; }
.note { color: var(--soft); font-size: var(--small); margin-top: 8px; }
.note.bad { color: var(--bad); }
.transcript > .old { content-visibility: auto; contain-intrinsic-size: auto 48px; }

.act { font-size: var(--small); margin-top: 8px; }
.act > summary { align-items: baseline; color: var(--soft); cursor: pointer; display: block; min-height: 32px; padding: 6px 0; }
.act > summary::before { content: "▸ "; }
.act > summary:dir(rtl)::before { content: "◂ "; }
.act[open] > summary::before { content: "▾ "; }
.act > summary b { color: var(--ink); font-weight: 400; }
.act .inside { border-inline-start: 1px solid var(--rule); display: grid; gap: 8px; margin-inline-start: 4px; padding-block: 4px; padding-inline: 16px 0; }
.act h3 { font-size: var(--small); }
.shown { margin-block-start: 4px; margin-inline-start: 16px; }
.shown img { border: 1px solid var(--rule); border-radius: 4px; display: block; max-height: 320px; max-width: 100%; }
.shown:has(> .framed, > .prose) { margin-inline-start: 0; }
.diff span { display: block; }
.diff .added { background: color-mix(in srgb, var(--accent) 16%, transparent); }
.diff .removed { background: color-mix(in srgb, var(--bad) 16%, transparent); }

.prose { display: grid; gap: 8px; }
.prose > * { min-width: 0; }
.shown .prose, blockquote { border-inline-start: 1px solid var(--rule); padding-inline-start: 16px; }
blockquote { display: grid; gap: 8px; margin: 0; }
.prose p, .prose li { white-space: pre-line; }
.prose ul, .prose ol { display: grid; gap: 4px; margin: 0; padding-inline-start: 24px; }
.prose code { background: var(--raised); border-radius: 4px; padding: 0 4px; }
.prose pre { background: var(--raised); border: 1px solid var(--rule); border-radius: 4px; padding: 8px 12px; }
.framed { border: 1px solid var(--rule); border-radius: 4px; margin: 0; overflow: hidden; }
.framed figcaption { border-bottom: 1px solid var(--rule); padding: 8px 12px; }
iframe.embed { border: 0; display: block; height: 320px; max-height: 70vh; min-height: 40px; width: 100%; }
.table { max-height: 320px; overflow: auto; }
table { border-collapse: collapse; font-size: var(--small); }
th, td { border-bottom: 1px solid var(--rule); padding-block: 4px; padding-inline: 0 12px; text-align: start; vertical-align: top; }
th { font-weight: 600; }
.widget { margin-top: 16px; }
.widget .note { align-items: center; display: flex; gap: 8px; }

.card { border: 1px solid var(--rule); border-radius: 4px; display: grid; gap: 12px; margin-top: 16px; max-width: 480px; padding: 16px; }
.card > * { min-width: 0; }
.card.destructive { border: 3px double var(--bad); }
.card p:empty { display: none; }
.card .platform { border-bottom: 1px solid var(--rule); padding-bottom: 8px; }
strong, .title { font-weight: 600; }
.title q { background: var(--raised); border: 1px solid var(--rule); border-radius: 4px; font-weight: 400; padding: 0 4px; quotes: none; }
.card .app { border-inline-start: 1px solid var(--rule); display: grid; gap: 12px; padding-inline-start: 12px; }
.card .words { white-space: pre-wrap; }
.card .own { border-top: 1px solid var(--rule); padding-top: 12px; }
.card .own p { flex-basis: 100%; }
.pairs { display: grid; font-size: var(--small); gap: 4px 16px; grid-template-columns: max-content 1fr; margin: 0; }
.pairs dt { color: var(--soft); max-width: 160px; }
.pairs dd { margin: 0; white-space: pre-wrap; }
.card summary { color: var(--soft); cursor: pointer; font-size: var(--small); min-height: 32px; }
.card details[open] { display: grid; gap: 8px; }
.field { display: grid; font-size: var(--small); gap: 4px; }
.field > span { color: var(--soft); }
.check { align-items: center; display: flex; font-size: var(--small); gap: 8px; min-height: 44px; }

.short > .composer { flex-wrap: nowrap; padding: 0 8px 8px; }
.short > .composer > *, .short > .to-end { min-height: 36px; padding: 4px 8px; }
.short textarea { flex-basis: 0; max-height: 36px; overflow-x: hidden; }
.short textarea::placeholder { white-space: nowrap; }

@media (pointer: coarse) {
  .act > summary, .card summary { min-height: 44px; padding-top: 10px; }
}
@media (prefers-reduced-motion: no-preference) {
  .turn, .card, .act { animation: arrive 120ms ease-out; }
  @keyframes arrive { from { opacity: 0; } }
}
`;
function dress(root) {
  try {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
    root.adoptedStyleSheets = [sheet];
  } catch {
    const element = document.createElement("style");
    element.textContent = STYLE;
    root.append(element);
  }
}

// src/wire/schema.ts
function namesOf({ path: path2 = [] }) {
  return path2.map((part) => String(typeof part === "object" ? part.key : part));
}

// src/core/merging.ts
var ANNOTATIONS = /* @__PURE__ */ new Set([
  "title",
  "description",
  "default",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
  "$comment",
  "id",
  "$id"
]);
var KEYED = ["properties", "patternProperties", "$defs"];
var LISTED = ["anyOf", "oneOf", "allOf", "prefixItems"];
function isOpen(schema) {
  return schema === true || isRecord(schema) && Object.keys(schema).every((key) => ANNOTATIONS.has(key));
}
function refers(schema) {
  return JSON.stringify(schema)?.includes('"$ref"') ?? false;
}
function merge(input2, output) {
  if (isOpen(input2) && isRecord(output) && !isOpen(output) && !refers(output)) {
    return { ...output, ...isRecord(input2) ? input2 : {} };
  }
  return isRecord(input2) && isRecord(output) ? mergedParts(input2, output) : input2;
}
function mergedParts(input2, output) {
  const made = { ...input2 };
  if (isClosedBy(input2, output)) {
    made["additionalProperties"] = false;
  }
  for (const key of KEYED) {
    const [ours, theirs] = [input2[key], output[key]];
    if (isRecord(ours) && isRecord(theirs)) {
      made[key] = byName(ours, theirs);
    }
  }
  for (const key of LISTED) {
    const [ours, theirs] = [input2[key], output[key]];
    if (Array.isArray(ours) && Array.isArray(theirs) && ours.length === theirs.length) {
      made[key] = ours.map((part, index) => merge(part, theirs[index]));
    }
  }
  for (const key of ["items", "additionalProperties"]) {
    if (key in input2 && key in output) {
      made[key] = merge(input2[key], output[key]);
    }
  }
  return made;
}
function isClosedBy(input2, output) {
  const isSilent = "properties" in input2 && !("additionalProperties" in input2);
  return isSilent && output["additionalProperties"] === false;
}
function byName(ours, theirs) {
  return Object.fromEntries(
    Object.entries(ours).map(([name, part]) => [
      name,
      Object.hasOwn(theirs, name) ? merge(part, theirs[name]) : part
    ])
  );
}

// src/core/parameters.ts
var WANTED = { target: "draft-2020-12", libraryOptions: { unrepresentable: "any" } };
var ANY_OBJECT = { type: "object" };
var MAX_ISSUES = 10;
var known = /* @__PURE__ */ new WeakMap();
function parametersOf(schema) {
  if (!isStandard(schema)) {
    return schema;
  }
  const found = known.get(schema) ?? exported(schema);
  known.set(schema, found);
  return found;
}
function exported(schema) {
  const { jsonSchema } = schema["~standard"];
  const input2 = tolerant(() => jsonSchema?.input(WANTED));
  const output = tolerant(() => jsonSchema?.output(WANTED));
  const merged = input2 === void 0 ? void 0 : merge(input2, output);
  if (!isRecord(merged) || isOpen(merged)) {
    return ANY_OBJECT;
  }
  const { $schema: _, ...parameters } = merged;
  return { type: "object", ...parameters };
}
function tolerant(make) {
  try {
    return make();
  } catch {
    return void 0;
  }
}
function isStandard(schema) {
  return "~standard" in schema;
}
async function validate(schema, value) {
  if (!isStandard(schema)) {
    return { isValid: true, value };
  }
  const said2 = await schema["~standard"].validate(value);
  return said2.issues === void 0 ? { isValid: true, value: said2.value } : { isValid: false, message: said2.issues.slice(0, MAX_ISSUES).map(issueText).join("\n") };
}
function issueText(issue) {
  const names = namesOf(issue);
  return names.length ? `${names.join(".")}: ${issue.message}` : issue.message;
}

// src/core/executing.ts
async function executed(find, call2, signal) {
  const { callId, name, args, timeoutMs } = call2;
  const tool = find(name);
  if (!tool) {
    return failed(`${name} is not on this page any more.`);
  }
  const input2 = await validate(tool.parameters, args).catch((error) => ({
    isValid: false,
    message: wordsOf(error)
  }));
  if (!input2.isValid) {
    return { error: { code: "invalid_arguments", message: input2.message } };
  }
  if (signal.aborted) {
    return failed("The page left the conversation before it executed this: nothing happened.");
  }
  const over = new AbortController();
  const end2 = (why) => over.abort(new Error(why));
  const timer = setTimeout(() => end2(`${name} took longer than ${timeoutMs} ms.`), timeoutMs);
  const leave = () => end2(`The page left the conversation while it executed ${name}.`);
  signal.addEventListener("abort", leave);
  try {
    const { execute } = find(name) ?? tool;
    const value = await Promise.race([
      Promise.resolve(execute(input2.value, { callId, signal: over.signal })),
      aborted(over.signal)
    ]);
    return { result: JSON.parse(plainJson(value)) };
  } catch (error) {
    if (error instanceof NotPlainError) {
      return notPlain(name, error.message);
    }
    return over.signal.aborted ? unfinished(wordsOf(over.signal.reason)) : failed(wordsOf(error));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", leave);
  }
}
var MAY_HAVE_HAPPENED = "The action may have happened: read the current state before you repeat it.";
function notPlain(tool, why) {
  const message2 = `The result of ${tool} cannot be sent: ${why}. ${MAY_HAVE_HAPPENED}`;
  return { error: { code: "unserializable_result", message: message2 } };
}
function failed(message2) {
  return { error: { code: "client_error", message: message2 } };
}
function unfinished(message2) {
  return { error: { code: "outcome_unknown", message: message2 } };
}
function aborted(signal) {
  return new Promise((_done, fail) => {
    signal.addEventListener("abort", () => fail(signal.reason));
  });
}

// src/client/chat/embed.ts
var SANDBOX = "allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox";
var MIN_PX = 40;
var MAX_PART = 0.7;
var LEAST_CHANGE_PX = 4;
var LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;
var frames = /* @__PURE__ */ new Map();
function embed(address2, { texts, brand }) {
  const url = absolute(address2);
  if (!url || url.protocol === "http:" && !LOOPBACK.test(url.hostname)) {
    return left(texts.pageNotAbsolute);
  }
  if (url.origin === location.origin) {
    return left(texts.pageOwnOrigin);
  }
  if (/[?#]\*\*\*$/.test(address2)) {
    return left(texts.pageMasked);
  }
  const title2 = texts.page(url.host);
  const frame = el("iframe", {
    class: "embed",
    title: title2,
    sandbox: SANDBOX,
    referrerpolicy: "no-referrer",
    src: url.href
  });
  if (frames.size === 0) {
    addEventListener("message", resized);
    document.addEventListener("securitypolicyviolation", refused);
  }
  frames.set(frame, { message: `__${brand.toLowerCase()}_height`, blocked: texts.pageBlocked });
  const caption = el("figcaption", { class: "small", text: `${title2} · ` });
  caption.append(link(url, texts.openPage));
  return el("figure", { class: "framed" }, caption, frame);
}
function left(words) {
  return el("p", { class: "note", text: words });
}
function resized({ data, source }) {
  if (source === null || typeof data !== "object" || data === null) {
    return;
  }
  for (const [frame, { message: message2 }] of shownFrames()) {
    const height = data[message2];
    if (frame.contentWindow === source && typeof height === "number" && Number.isFinite(height)) {
      const wanted = Math.max(MIN_PX, Math.min(height, MAX_PART * innerHeight));
      if (Math.abs(wanted - frame.clientHeight) >= LEAST_CHANGE_PX) {
        frame.style.height = `${wanted}px`;
      }
    }
  }
}
function refused({ effectiveDirective, blockedURI }) {
  if (effectiveDirective !== "frame-src") {
    return;
  }
  for (const [frame, { blocked }] of shownFrames()) {
    if (new URL(frame.src).origin === absolute(blockedURI)?.origin) {
      frame.replaceWith(left(blocked));
    }
  }
}
function shownFrames() {
  for (const frame of frames.keys()) {
    if (!frame.isConnected) {
      frames.delete(frame);
    }
  }
  if (frames.size === 0) {
    removeEventListener("message", resized);
    document.removeEventListener("securitypolicyviolation", refused);
  }
  return [...frames];
}

// src/client/chat/display.ts
var MOST_ROWS = 50;
function shown2(display, framing) {
  const drawn2 = display && inside(display, framing);
  return drawn2 ? el("div", { class: "shown" }, drawn2) : null;
}
function inside(display, framing) {
  const { texts } = framing;
  if ("embedUrl" in display) {
    return embed(display.embedUrl, framing);
  }
  if ("markdown" in display) {
    return markdown(display.markdown, texts);
  }
  if (!("renderer" in display)) {
    return null;
  }
  const data = isRecord(display.data) ? display.data : {};
  switch (display.renderer) {
    case "image":
      return image(data, texts);
    case "link":
      return linked2(data);
    case "table":
      return table2(display.data, texts);
    case "diff":
      return diff(data, texts);
    default:
      return null;
  }
}
function linked2({ url, label }) {
  const found = absolute(url);
  return found && link(found, typeof label === "string" && label.trim() ? label : String(url));
}
function image({ url, alt }, texts) {
  const found = absolute(url);
  if (!found) {
    return null;
  }
  const words = typeof alt === "string" ? visible(alt) : "";
  const drawn2 = el("img", {
    src: found.href,
    alt: words || texts.noImage,
    loading: "lazy",
    referrerpolicy: "no-referrer"
  });
  drawn2.addEventListener("error", () => drawn2.replaceWith(link(found, words || found.href)));
  return drawn2;
}
function table2(data, texts) {
  const given = Array.isArray(data) ? data : isRecord(data) ? data["rows"] : [];
  const rows = (Array.isArray(given) ? given : []).filter(isRecord);
  if (rows.length === 0) {
    return null;
  }
  const named = isRecord(data) && Array.isArray(data["columns"]) ? data["columns"].map(String) : null;
  const columns = named ?? [...new Set(rows.slice(0, MOST_ROWS).flatMap(Object.keys))];
  const left2 = rows.length - MOST_ROWS;
  const head = columns.map((name) => el("th", { scope: "col", text: name }));
  const body = rows.slice(0, MOST_ROWS).map(
    (row) => el(
      "tr",
      {},
      columns.map((name) => el("td", { text: cell(row[name]) }))
    )
  );
  return el(
    "div",
    {},
    scrolled(
      el("table", {}, el("thead", {}, el("tr", {}, head)), el("tbody", {}, body)),
      texts.table
    ),
    left2 > 0 ? el("p", { class: "small", text: texts.moreRows(left2) }) : null
  );
}
function cell(value) {
  return value === void 0 ? "" : typeof value === "string" ? value : JSON.stringify(value);
}
function diff(data, texts) {
  const { patch } = data;
  if (typeof patch === "string") {
    const lines = visible(patch).split("\n");
    const kind = (line) => ({ "+": "added", "-": "removed" })[line[0] ?? ""];
    return el(
      "pre",
      { tabindex: "0", class: "diff" },
      lines.map((line) => el("span", { class: kind(line), text: `${line}
` }))
    );
  }
  return el(
    "div",
    {},
    el("p", { class: "small", text: texts.before }),
    pre(side(data["before"])),
    el("p", { class: "small", text: texts.after }),
    pre(side(data["after"]))
  );
}
function side(value) {
  return typeof value === "string" ? value : pretty(value ?? null);
}

// src/client/chat/entries.ts
var BAD = /* @__PURE__ */ new Set(["error", "expired", "outcome_unknown"]);
var MODEL_FAULT = /^model_(unavailable|invalid)$/;
function drawn(entry2, drawing) {
  switch (entry2.kind) {
    case "message":
      return message(entry2, drawing.texts);
    case "call":
      return call(entry2, drawing);
    case "input":
      return input(entry2, drawing);
    case "widget":
      return fixed(drawing.shelf.place(entry2));
    case "end":
      return fixed(end(entry2, drawing));
    case "lack":
      return fixed(lack(entry2, drawing.texts));
  }
}
function fixed(node) {
  return { node, update: () => true };
}
function message(first, texts) {
  const who = first.role === "user" ? texts.you : texts.agent;
  const node = el("div", { class: `turn ${first.role}`, role: "article", "aria-label": who });
  let before = null;
  const update = (entry2) => {
    if (entry2.kind !== "message" || entry2.role !== first.role) {
      return false;
    }
    if (before === null || !isSame(entry2, before)) {
      node.replaceChildren(...said(entry2, texts));
    }
    before = entry2;
    return true;
  };
  update(first);
  return { node, update };
}
function isSame(one, other) {
  return one.text === other.text && one.partial === other.partial && one.turn === other.turn;
}
function said({ role, text: text2, partial, turn }, texts) {
  const words = role === "user" ? el("p", { class: "said", text: text2 }) : markdown(text2, texts);
  const note = partial ? texts.cutOff : turn && texts[turn];
  return note ? [words, el("p", { class: "note", text: note })] : [words];
}
function call(first, drawing) {
  const { texts, callPart, isHere } = drawing;
  const meta = el("span", { class: "meta" });
  const inside2 = el("div", { class: "inside" });
  const details = el(
    "details",
    { class: "act" },
    el("summary", {}, el("b", { text: first.title || first.tool }), meta),
    inside2
  );
  const below = el("div", { class: "below" });
  const node = el("div", { class: "call" }, details, below);
  let now = first;
  let filled = null;
  const fill2 = () => {
    if (details.open && filled !== now) {
      filled = now;
      const told = now.ended ? [el("h3", { text: texts.told }), pre(now.ended.content)] : [];
      const more = now.ended && now.app !== null ? callPart(now.id) : null;
      inside2.replaceChildren(
        el("h3", { text: texts.args }),
        pre(pretty(now.args ?? {})),
        ...told,
        ...more ? [more] : []
      );
    }
  };
  details.addEventListener("toggle", fill2);
  const tick = (at) => {
    if (!now.ended) {
      const time = now.waitsFor === "person" ? "" : ` · ${took(at - Date.parse(now.at))}`;
      meta.textContent = ` · ${goingOn(now, isHere(now.id), texts)}${time}`;
    }
  };
  const update = (entry2) => {
    if (entry2.kind !== "call") {
      return false;
    }
    const wasEnded = now.ended;
    now = entry2;
    node.hidden = entry2.isWidget && entry2.ended?.outcome === "ok";
    if (entry2.ended && entry2.ended !== wasEnded) {
      finish(entry2, entry2.ended, meta, below, drawing);
    } else {
      tick(Date.now());
    }
    fill2();
    return true;
  };
  if (first.ended) {
    finish(first, first.ended, meta, below, drawing);
  }
  update(first);
  return { node, update, tick };
}
function goingOn({ waitsFor, progress }, isHere, texts) {
  if (waitsFor === "person") {
    return texts.waitsForYou.replace(/\.$/, "");
  }
  if (waitsFor === "page" && !isHere) {
    return texts.waitsForPage.replace(/\.$/, "");
  }
  return progress ? texts.progress(progress.status, progress.polls) : texts.atWork;
}
function finish({ at }, { at: endedAt, outcome, display }, meta, below, framing) {
  const { texts } = framing;
  const isGood = outcome === "ok";
  meta.className = BAD.has(outcome) ? "meta bad" : "meta";
  meta.textContent = isGood ? ` · ${took(Date.parse(endedAt) - Date.parse(at))}` : ` · ${texts.outcomes[outcome] ?? outcome}`;
  const error = display && "error" in display ? display.error : null;
  const notes = [];
  if (error && (error.code !== outcome || outcome === "outcome_unknown")) {
    const text2 = error.message.replace(MAY_HAVE_HAPPENED, "").trim();
    notes.push(el("p", { class: "note bad", text: text2 }));
  }
  if (outcome === "outcome_unknown" || error?.mayHaveHappened) {
    notes.push(el("p", { class: "note bad", text: texts.unknown }));
  }
  const drawing = isGood ? shown2(display, framing) : null;
  below.replaceChildren(...notes, ...drawing ? [drawing] : []);
}
function input(first, drawing) {
  const node = el("div", { class: "input" });
  let isOpen2 = null;
  const update = (entry2) => {
    if (entry2.kind !== "input") {
      return false;
    }
    const opens = entry2.resolved === void 0;
    if (opens !== isOpen2) {
      isOpen2 = opens;
      const hadFocus = node.contains(node.getRootNode().activeElement);
      node.replaceChildren(opens ? card(entry2.input, drawing) : settled(entry2, drawing));
      if (hadFocus) {
        drawing.refocus();
      }
    }
    return true;
  };
  update(first);
  return { node, update };
}
function end({ reason, code, message: said2 }, { texts, standsIn }) {
  if (reason === "cancelled") {
    return el("p", { class: "note", text: texts.stopped });
  }
  if (MODEL_FAULT.test(code) && !standsIn) {
    return el(
      "div",
      { class: "note" },
      el("p", { class: "bad", text: texts.noModel }),
      folded(texts.why, el("p", { text: said2 }))
    );
  }
  return el("p", { class: "note bad", text: said2 || texts.failed });
}
function lack({ app, tool, reason }, texts) {
  const words = tool === void 0 ? texts.noApp(app, reason) : texts.noTool(app, tool, reason);
  return el("p", { class: "note", text: words });
}

// src/client/chat/transcript.ts
var WINDOW = 60;
var Transcript = class {
  node;
  #drawing;
  #earlier;
  #rows = /* @__PURE__ */ new Map();
  #entries = [];
  /** Index of the first that is drawn. */
  #first = 0;
  constructor(drawing, scroller) {
    this.#drawing = drawing;
    this.#earlier = el("div", { class: "earlier", hidden: true });
    this.#earlier.append(button(drawing.texts.earlier, () => this.#showEarlier(), "quiet"));
    this.node = el("div", {
      class: "transcript",
      role: "log",
      "aria-live": "off",
      "aria-label": drawing.texts.transcript
    });
    this.node.append(this.#earlier);
    scroller.addEventListener("scroll", () => {
      if (scroller.scrollTop < scroller.clientHeight && this.#first > 0) {
        this.#keepingPlace(scroller);
      }
    });
  }
  get isEmpty() {
    return this.#entries.length === 0;
  }
  /** Draw what changed since the last time. */
  show(entries) {
    const before = this.#entries;
    if (entries === before) {
      return;
    }
    this.#entries = entries;
    if (before.length === 0 || entries.length < before.length || entries[0]?.id !== before[0]?.id) {
      this.#begin();
      return;
    }
    for (let at = this.#first; at < entries.length; at += 1) {
      const entry2 = entries[at];
      if (entry2 && entry2 !== before[at]) {
        this.#put(entry2);
      }
    }
    this.#earlier.hidden = this.#first === 0;
  }
  tick(now) {
    for (const row of this.#rows.values()) {
      if (row.entry.kind === "call" && !row.entry.ended) {
        row.tick?.(now);
      }
    }
  }
  #begin() {
    this.#rows.clear();
    this.#drawing.shelf.clear();
    this.#first = Math.max(0, this.#entries.length - WINDOW);
    this.node.replaceChildren(this.#earlier);
    for (const entry2 of this.#entries.slice(this.#first)) {
      this.#put(entry2);
    }
    this.#earlier.hidden = this.#first === 0;
  }
  #put(entry2) {
    const row = this.#rows.get(entry2.id);
    if (row?.update(entry2)) {
      row.entry = entry2;
      return;
    }
    const made = this.#drawn(entry2);
    if (row) {
      row.node.replaceWith(made.node);
    } else {
      this.node.append(made.node);
    }
  }
  /** A new row; it does not stand in the transcript yet. */
  #drawn(entry2) {
    const row = { ...drawn(entry2, this.#drawing), entry: entry2 };
    this.#rows.set(entry2.id, row);
    return row;
  }
  #showEarlier() {
    const first = Math.max(0, this.#first - WINDOW);
    const made = this.#entries.slice(first, this.#first).map((entry2) => {
      const { node } = this.#drawn(entry2);
      node.classList.add("old");
      return node;
    });
    this.#first = first;
    this.#earlier.after(...made);
    this.#earlier.hidden = first === 0;
  }
  /** What is read stays where it is, also where the browser does not see to it. */
  #keepingPlace(scroller) {
    const below = scroller.scrollHeight - scroller.scrollTop;
    this.#showEarlier();
    scroller.scrollTop = scroller.scrollHeight - below;
  }
};

// src/core/definitions.ts
function entry(record, name) {
  return Object.hasOwn(record, name) ? record[name] : void 0;
}

// src/client/chat/widgets.ts
var MAX_LIVE = 8;
var WidgetShelf = class {
  #host;
  #texts;
  #maxLive;
  #renders = /* @__PURE__ */ new Map();
  #widgets = {};
  #count = 0;
  constructor(host, texts, maxLive = MAX_LIVE) {
    this.#host = host;
    this.#texts = texts;
    this.#maxLive = maxLive;
  }
  /** The widgets that there are from now on. */
  define(widgets) {
    this.#widgets = widgets;
    for (const render of this.#renders.values()) {
      const now = this.#definition(render.entry.widget);
      if (now !== render.definition && !sameDrawing(now, render.definition)) {
        this.#redraw(render);
      } else {
        render.definition = now;
      }
    }
  }
  /** The place of a widget in the transcript, drawn. */
  place(entry2) {
    const place = el("div", { class: "widget" });
    const render = {
      entry: entry2,
      place,
      turn: 0,
      isFolded: false,
      container: null,
      definition: null,
      dispose: null
    };
    this.#renders.set(entry2.id, render);
    this.#redraw(render);
    this.#foldOldest(entry2.widget);
    return place;
  }
  /** End all renders. */
  clear() {
    for (const render of this.#renders.values()) {
      this.#end(render);
    }
    this.#renders.clear();
  }
  #definition(name) {
    return entry(this.#widgets, name) ?? null;
  }
  async #redraw(render) {
    this.#end(render);
    const { turn, entry: entry2, place } = render;
    const definition = this.#definition(entry2.widget);
    render.definition = definition;
    if (!definition || render.isFolded) {
      this.#summarise(render);
      return;
    }
    try {
      const input2 = await validate(definition.parameters, entry2.props);
      if (render.turn !== turn) {
        return;
      }
      if (!input2.isValid) {
        throw new Error(input2.message);
      }
      const container = document.createElement("div");
      this.#count += 1;
      container.slot = `widget-${this.#count}`;
      render.container = container;
      this.#host.append(container);
      place.replaceChildren(el("slot", { name: container.slot }));
      const { render: draw } = this.#definition(entry2.widget) ?? definition;
      render.dispose = draw(input2.value, container) ?? null;
    } catch (error) {
      this.#end(render);
      const words = this.#texts.widgetFailed(entry2.widget, wordsOf(error));
      place.replaceChildren(el("p", { class: "note bad", text: words }));
    }
  }
  #summarise(render) {
    const { entry: entry2, place } = render;
    const show = () => {
      render.isFolded = false;
      this.#redraw(render);
      this.#foldOldest(entry2.widget, render);
    };
    place.replaceChildren(
      render.definition ? el(
        "p",
        { class: "note" },
        el("span", { text: `${this.#texts.widgetFolded(entry2.widget)} ` }),
        button(this.#texts.show, show, "quiet")
      ) : el("p", { class: "note", text: this.#texts.widgetGone(entry2.widget) })
    );
  }
  #foldOldest(widget, kept) {
    const live = [...this.#renders.values()].filter((one) => one.entry.widget === widget && !one.isFolded && one !== kept).sort((one, other) => one.entry.at.localeCompare(other.entry.at));
    const most = this.#maxLive - (kept ? 1 : 0);
    for (const render of live.slice(0, Math.max(0, live.length - most))) {
      render.isFolded = true;
      this.#redraw(render);
    }
  }
  #end(render) {
    const { dispose, container } = render;
    render.turn += 1;
    render.dispose = null;
    render.container = null;
    try {
      dispose?.();
    } catch (error) {
      console.error(error);
    }
    container?.remove();
  }
};
function sameDrawing(one, other) {
  return one !== null && other !== null && one.render === other.render && (one.parameters === other.parameters || schemaText(one) === schemaText(other));
}
function schemaText({ parameters }) {
  return JSON.stringify(parametersOf(parameters));
}

// src/client/chat/chat.ts
var SHORT_PX = 320;
var UNPAINTED_MS = 200;
var Chat = class {
  #connection;
  #texts;
  #locale;
  #root;
  #shelf;
  #transcript;
  #scroller;
  #words;
  #send;
  #stop;
  #line = el("p", { class: "line small" });
  #speaker;
  #outbox = el("div", { class: "outbox" });
  #prompts = el("div", { class: "prompts" });
  #empty = el("p", { class: "note empty" });
  #section;
  #follower;
  #leave = [];
  #shown = null;
  /** What was wrong when that was looked at last. */
  #wrong = "";
  #frame = 0;
  #late;
  constructor(host, connection, options = {}) {
    this.#connection = connection;
    this.#locale = localeOf(options.locale);
    this.#texts = textsOf(this.#locale, options.texts);
    this.#speaker = new Speaker(this.#texts);
    this.#root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    this.#shelf = new WidgetShelf(host, this.#texts, options.maxLiveWidgets);
    this.#scroller = el("div", { class: "scroll", tabindex: "-1" });
    this.#transcript = new Transcript(
      {
        texts: this.#texts,
        locale: this.#locale,
        answer: options.answer ?? ((input2, answer) => connection.answer(input2, answer)),
        brand: options.brand ?? "remit",
        standsIn: options.standsIn ?? false,
        connectPart: options.connectPart ?? (() => null),
        approvalPart: options.approvalPart ?? (() => null),
        callPart: options.callPart ?? (() => null),
        isHere: (callId) => connection.snapshot().executing === callId,
        shelf: this.#shelf,
        // A finger wants no keyboard to come up by itself.
        refocus: () => (globalThis.matchMedia?.("(pointer: coarse)").matches ? this.#scroller : this.#words).focus()
      },
      this.#scroller
    );
    this.#words = el("textarea", { rows: 1, "aria-label": this.#texts.message });
    this.#send = el("button", { type: "submit", class: "primary", text: this.#texts.send });
    this.#stop = button(this.#texts.stop, () => this.#cancel());
    this.#follower = new Follower(
      this.#scroller,
      this.#transcript.node,
      this.#texts.toNewest,
      () => this.#section.classList.toggle("short", this.#section.clientHeight < SHORT_PX)
    );
    this.#section = this.#built();
    this.#listen();
    this.#show();
  }
  /** The widgets that are drawn from now on. */
  define(widgets) {
    this.#shelf.define(widgets);
  }
  /** Put the focus where one writes. */
  focus() {
    this.#words.focus();
  }
  /** Take the chat out of its element; the connection stays. */
  close() {
    this.#settle();
    for (const leave of this.#leave) {
      leave();
    }
    this.#shelf.clear();
    this.#root.replaceChildren();
  }
  // --- what it is made of -----------------------------------------------------------------------
  #built() {
    this.#words.value = this.#connection.draft;
    const composer = el(
      "form",
      { class: "composer", autocomplete: "off" },
      this.#words,
      this.#send,
      this.#stop
    );
    composer.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#say();
    });
    this.#scroller.append(
      el(
        "div",
        { class: "column" },
        this.#empty,
        this.#transcript.node,
        this.#outbox,
        this.#prompts
      )
    );
    const section = el(
      "section",
      { class: "chat", "aria-label": this.#texts.chat, lang: this.#locale },
      this.#scroller,
      this.#follower.button,
      this.#line,
      composer,
      this.#speaker.node
    );
    section.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.#isBusy && this.#isForChat(event)) {
        this.#cancel();
      }
    });
    dress(this.#root);
    this.#root.append(section);
    return section;
  }
  #listen() {
    const words = this.#words;
    words.addEventListener("input", () => {
      this.#connection.draft = words.value;
    });
    words.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        this.#say();
      }
    });
    const ticking = setInterval(() => this.#tick(), 1e3);
    const unsubscribe = this.#connection.subscribe(() => this.#soon());
    this.#leave.push(
      unsubscribe,
      () => clearInterval(ticking),
      () => this.#follower.close()
    );
  }
  /** A key that a host's widget, a field or a keyboard that composes has no use of its own for. */
  #isForChat({ target, isComposing, defaultPrevented }) {
    const isOwn = target instanceof Node && this.#root.contains(target);
    return isOwn && !isComposing && !defaultPrevented && !(target instanceof HTMLInputElement);
  }
  // --- what its user does -------------------------------------------------------------------------
  #say() {
    const text2 = this.#words.value.trim();
    if (!text2 || this.#words.disabled) {
      return;
    }
    this.#words.value = this.#connection.draft = "";
    this.#follower.jump();
    this.#connection.send(text2);
  }
  /** What could not be sent is written on, before what was begun since. */
  #edit(text2) {
    const words = this.#words;
    words.value = this.#connection.draft = [text2, words.value].filter(Boolean).join("\n");
    words.focus();
  }
  async #cancel() {
    if (this.#connection.snapshot().isStopping) {
      return;
    }
    try {
      await this.#connection.cancel();
    } catch (error) {
      this.#speaker.tell(error.message);
    }
  }
  // --- what is shown --------------------------------------------------------------------------------
  get #isBusy() {
    const { status } = this.#connection.snapshot().state;
    return status !== "idle" && status !== "closed";
  }
  /** At most once a frame, however many pieces come; a page that is not painted has no frames. */
  #soon() {
    if (this.#frame === 0) {
      this.#frame = requestAnimationFrame(() => this.#show());
      this.#late = setTimeout(() => this.#show(), UNPAINTED_MS);
    }
  }
  #show() {
    this.#settle();
    const now = this.#connection.snapshot();
    const before = this.#shown;
    this.#shown = now;
    this.#transcript.show(now.state.entries);
    if (before?.state.entries !== now.state.entries) {
      this.#speaker.news(before?.state.entries ?? [], now.state.entries);
    }
    if (before?.outbox !== now.outbox) {
      this.#outbox.replaceChildren(
        ...now.outbox.map(
          (one) => outgoing(one, this.#connection, (text2) => this.#edit(text2), this.#texts)
        )
      );
    }
    if (before?.prompts !== now.prompts || before?.notices !== now.notices) {
      this.#showPrompts(now, before?.notices ?? []);
    }
    this.#showLine(now);
    this.#follower.follow();
  }
  #settle() {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#late);
    this.#frame = 0;
  }
  #showLine(now) {
    const { status } = now.state;
    const isOver = now.link === "over" || status === "closed";
    this.#words.disabled = this.#send.disabled = isOver;
    this.#stop.hidden = !this.#isBusy || isOver;
    this.#stop.setAttribute("aria-disabled", String(now.isStopping));
    this.#words.placeholder = this.#placeholder(isOver, status);
    const isOpening = !now.isCaughtUp && now.link !== "over";
    this.#empty.hidden = !this.#transcript.isEmpty || now.outbox.length > 0;
    this.#empty.textContent = isOpening ? this.#texts.opening : this.#texts.empty;
    const trouble = this.#trouble(now);
    const words = trouble || this.#goingOn(now);
    this.#line.classList.toggle("bad", trouble !== "");
    if (this.#line.textContent !== words) {
      this.#line.textContent = words;
    }
    if (this.#wrong !== trouble) {
      this.#wrong = trouble;
      this.#speaker.tell(trouble || this.#texts.back);
    }
  }
  #placeholder(isOver, status) {
    if (isOver) {
      return this.#texts.over;
    }
    if (status === "waiting_human") {
      return this.#texts.writeInstead;
    }
    return this.#isBusy ? this.#texts.writeNext : this.#texts.write;
  }
  #trouble({ link: state, fault: fault2, lendingFault, state: { status } }) {
    switch (state) {
      case "lost":
        return this.#texts.lost;
      case "offline":
        return this.#texts.offline;
      case "signed_out":
      case "over":
        return fault2 === null ? this.#texts.closed : faultText(fault2, this.#texts);
      default:
        return status === "closed" ? this.#texts.closed : lendingFault ? this.#texts.lendingFault : "";
    }
  }
  #goingOn({ state, executing, isStopping }) {
    if (isStopping) {
      return this.#texts.stopping;
    }
    switch (state.status) {
      case "running": {
        const last = state.entries.at(-1);
        const isSeen = last?.kind === "call" && !last.ended || last?.kind === "message" && last.at === null;
        const since = state.runningSince;
        return isSeen ? "" : this.#texts.thinks(since ? took(Date.now() - Date.parse(since)) : "");
      }
      case "waiting_human":
        return this.#texts.waitsForYou;
      case "waiting_client":
        return executing === null ? this.#texts.waitsForPage : "";
      default:
        return "";
    }
  }
  #tick() {
    this.#transcript.tick(Date.now());
    this.#showLine(this.#connection.snapshot());
  }
  #showPrompts(now, before) {
    const { notices, prompts } = now;
    this.#prompts.replaceChildren(
      ...notices.map(({ text: text2 }) => el("p", { class: "note", text: text2 })),
      ...prompts.map((prompt) => prompted(prompt, this.#texts))
    );
    for (const notice of notices) {
      if (!before.includes(notice)) {
        this.#speaker.tell(notice.text);
      }
    }
  }
};

// src/core/state.ts
var START = {
  headSeq: 0,
  status: "idle",
  user: null,
  entries: [],
  inputs: [],
  clientCalls: [],
  runningSince: null
};
var MANY = 20;
function reduceAll(state, events) {
  const draft = { ...state, entries: [...state.entries], places: null };
  if (events.length > MANY) {
    draft.places = new Map(draft.entries.map(({ id }, at) => [id, at]));
  }
  let isChanged = false;
  for (const event of events) {
    if (event.type === "text_delta") {
      isChanged = piece(draft, event.data) || isChanged;
    } else if (event.seq > draft.headSeq) {
      draft.headSeq = event.seq;
      const fold = FOLDS[event.type];
      fold?.(draft, event.data, event.at, event.seq);
      isChanged = true;
    }
  }
  const { places: _, ...after } = draft;
  return isChanged ? after : state;
}
var FOLDS = {
  session_started: (draft, data) => {
    draft.user = data.user;
  },
  catalog: (draft, data, at, seq) => {
    for (const { app, unavailable, dropped } of data.apps) {
      const lacks = unavailable ? [{ app, reason: unavailable }] : dropped.map(({ name, reason }) => ({ app, tool: name, reason }));
      for (const [index, lack2] of lacks.entries()) {
        push(draft, { kind: "lack", id: `lack:${seq}:${app}:${index}`, at, ...lack2 });
      }
    }
  },
  message: (draft, { messageId: id, role, text: text2, partial = false, runId }, at) => {
    const waits = role === "user" && draft.runningSince !== null && draft.status !== "waiting_human";
    const turn = waits ? { turn: "next", ...runId !== void 0 && { runId } } : {};
    put(draft, { kind: "message", id, role, text: text2, at, partial, ...turn });
  },
  run_started: (draft, { runId }, at) => {
    draft.runningSince = at;
    turned(draft, runId, void 0);
  },
  tool_call: (draft, data, at) => {
    const { app, tool, title: title2, args } = data;
    const id = data.callId;
    put(draft, { kind: "call", id, app, tool, title: title2, args, at, isWidget: false, waitsFor: null });
  },
  tool_progress: (draft, { callId, polls, status }) => {
    change(draft, callId, "call", { progress: { polls, status } });
  },
  human_input_needed: (draft, input2, at) => {
    put(draft, { kind: "input", id: input2.id, input: input2, at });
    draft.inputs = [...draft.inputs.filter(({ id }) => id !== input2.id), input2];
    change(draft, input2.callId, "call", { waitsFor: "person" });
  },
  human_input_resolved: (draft, data, at) => {
    const input2 = draft.inputs.find(({ id }) => id === data.inputId);
    draft.inputs = draft.inputs.filter((one) => one !== input2);
    change(draft, data.inputId, "input", { resolved: { ...data, at } });
    if (input2) {
      change(draft, input2.callId, "call", { waitsFor: null });
    }
  },
  client_tool_call: (draft, { callId, tool, handler: handler2 = tool, app = null }, _at, seq) => {
    const others = without(draft.clientCalls, callId);
    draft.clientCalls = [...others, { callId, seq, tool, handler: handler2, app }];
    change(draft, callId, "call", { waitsFor: "page" });
  },
  widget: (draft, { callId, widget, props }, at) => {
    change(draft, callId, "call", { isWidget: true });
    put(draft, { kind: "widget", id: `widget:${callId}`, widget, props, at });
  },
  tool_result: (draft, { callId, outcome, content, display }, at) => {
    draft.clientCalls = without(draft.clientCalls, callId);
    change(draft, callId, "call", {
      waitsFor: null,
      ended: { at, outcome, content, ...display && { display } }
    });
  },
  status: (draft, data) => {
    draft.status = data.status;
  },
  run_finished: (draft, { runId, reason, error }, at) => {
    if (reason === "waiting" || turned(draft, runId, "dropped")) {
      return;
    }
    draft.runningSince = null;
    cutOff(draft, at);
    if (reason !== "done") {
      const { code = "", message: message2 = "" } = error ?? {};
      put(draft, { kind: "end", id: `end:${runId}`, reason, code, message: message2, at });
    }
  }
};
function cutOff(draft, at) {
  for (const [index, entry2] of draft.entries.entries()) {
    if (entry2.kind === "message" && entry2.at === null) {
      draft.entries[index] = { ...entry2, at, partial: true };
    }
  }
}
function turned(draft, runId, turn) {
  const at = draft.entries.findLastIndex(
    (entry3) => entry3.kind === "message" && entry3.turn === "next" && entry3.runId === runId
  );
  const entry2 = draft.entries[at];
  if (entry2?.kind !== "message") {
    return false;
  }
  const { turn: _, runId: __, ...rest } = entry2;
  draft.entries[at] = turn ? { ...rest, turn } : rest;
  return true;
}
function without(calls, callId) {
  return calls.some((one) => one.callId === callId) ? calls.filter((one) => one.callId !== callId) : calls;
}
function put(draft, entry2) {
  const at = indexOf(draft, entry2.id);
  if (at < 0) {
    push(draft, entry2);
  } else {
    draft.entries[at] = entry2;
  }
}
function change(draft, id, kind, changes) {
  const at = indexOf(draft, id);
  const entry2 = draft.entries[at];
  if (entry2?.kind === kind) {
    draft.entries[at] = { ...entry2, ...changes };
  }
}
function push(draft, entry2) {
  draft.places?.set(entry2.id, draft.entries.length);
  draft.entries.push(entry2);
}
function indexOf({ entries, places }, id) {
  return places ? places.get(id) ?? -1 : entries.findLastIndex((entry2) => entry2.id === id);
}
function piece(draft, { messageId, offset, text: text2 }) {
  const found = draft.entries[indexOf(draft, messageId)];
  if (found && (found.kind !== "message" || found.at !== null)) {
    return false;
  }
  const before = codePoints(found?.text ?? "", offset);
  if (before === null) {
    return false;
  }
  put(draft, {
    kind: "message",
    id: messageId,
    role: "assistant",
    text: before + text2,
    at: null,
    partial: false
  });
  return true;
}
function codePoints(text2, count) {
  let at = 0;
  for (let left2 = count; left2 > 0; left2 -= 1) {
    const code = text2.codePointAt(at);
    if (code === void 0) {
      return null;
    }
    at += code > 65535 ? 2 : 1;
  }
  return text2.slice(0, at);
}

// src/transport/stream.ts
var QUIET_MS = 4e4;
var STALE_MS = 2e4;
var HELD_MS = 5e3;
var FIRST_PAUSE_MS = 250;
var LONGEST_PAUSE_MS = 8e3;
async function follow(http, session, reader, signal) {
  let ends = 0;
  while (!signal.aborted) {
    const attempt = new Attempt(signal);
    const why = await whole(http, session, attempt, reader);
    if (why === "session_closed" || why instanceof RemitError) {
      reader.over(why === "session_closed" ? "closed" : why);
      return;
    }
    ends = attempt.isNoSign ? 1 : ends + 1;
    if (why === "token_expired") {
      http.forgetToken();
    }
    if (!signal.aborted && !(why === "token_expired" && ends === 1)) {
      reader.lost(globalThis.navigator?.onLine === false);
      await pause(ends, signal);
    }
  }
}
async function whole(http, session, attempt, reader) {
  try {
    return await read(http, session, attempt, reader);
  } catch (error) {
    return error instanceof RemitError && isFinal(error) ? error : null;
  } finally {
    attempt.end();
  }
}
function isFinal({ status }) {
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}
async function read(http, session, attempt, reader) {
  const answer = await http.open(
    path`/v1/sessions/${session}/events`,
    { Accept: "text/event-stream", "Last-Event-ID": String(reader.headSeq()) },
    attempt.signal
  );
  const bytes = answer.body?.getReader();
  if (!bytes) {
    return null;
  }
  attempt.opened();
  reader.open();
  const decoder = new TextDecoder();
  const messages = new Messages();
  for (; ; ) {
    const { value, done } = await attempt.awaited(bytes.read());
    if (done) {
      return null;
    }
    const ended = pass(messages.take(decoder.decode(value, { stream: true })), reader);
    if (ended !== null) {
      return ended;
    }
  }
}
function pass(messages, reader) {
  let batch = [];
  let ended = null;
  for (const { event, data } of messages) {
    if (event === "end") {
      ended = data.reason;
    } else if (event === "reset") {
      batch = [];
      reader.reset();
    } else if (event === "text_delta") {
      batch.push({ type: event, data });
    } else {
      batch.push(data);
    }
  }
  if (batch.length > 0) {
    reader.events(batch);
  }
  return ended;
}
var Messages = class {
  #rest = "";
  #event = "";
  #data = [];
  /** Those that a piece of the text completes. */
  take(text2) {
    const found = [];
    const lines = (this.#rest + text2).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const raw of lines) {
      const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
      if (line !== "") {
        this.#field(line);
      } else if (this.#data.length > 0) {
        found.push({ event: this.#event, data: JSON.parse(this.#data.join("\n")) });
        this.#clear();
      } else {
        this.#clear();
      }
    }
    return found;
  }
  #field(line) {
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") {
      this.#data.push(value);
    } else if (name === "event") {
      this.#event = value;
    }
  }
  #clear() {
    this.#event = "";
    this.#data = [];
  }
};
var Attempt = class {
  #ended = new AbortController();
  #outer;
  #stop;
  #lastAt = Date.now();
  #openedAt = null;
  #wasWoken = false;
  constructor(outer) {
    this.#outer = outer;
    const abort = () => this.#ended.abort();
    outer.addEventListener("abort", abort);
    const unheard = onWake(() => {
      this.#wasWoken = true;
      if (Date.now() - this.#lastAt > STALE_MS) {
        abort();
      }
    });
    this.#stop = () => {
      outer.removeEventListener("abort", abort);
      unheard();
    };
    if (outer.aborted) {
      abort();
    }
  }
  get signal() {
    return this.#ended.signal;
  }
  /** Whether its end says nothing of the next: it held for a while, or the page came back meanwhile. */
  get isNoSign() {
    const didHold = this.#openedAt !== null && Date.now() - this.#openedAt >= HELD_MS;
    return didHold || this.#wasWoken;
  }
  opened() {
    this.#openedAt = Date.now();
  }
  async awaited(value) {
    const silence = setTimeout(() => this.#ended.abort(), QUIET_MS);
    try {
      const found = await value;
      this.#lastAt = Date.now();
      return found;
    } finally {
      clearTimeout(silence);
    }
  }
  end() {
    this.#stop();
    if (!this.#outer.aborted) {
      this.#ended.abort();
    }
  }
};
async function pause(ends, signal) {
  const most = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (ends - 1));
  const cut = new AbortController();
  const end2 = () => cut.abort();
  signal.addEventListener("abort", end2);
  const unheard = onWake(end2);
  await sleep(most * (0.5 + Math.random() / 2), cut.signal);
  unheard();
  signal.removeEventListener("abort", end2);
}
function onWake(told) {
  const { document: document2, addEventListener: addEventListener2, removeEventListener: removeEventListener2 } = globalThis;
  if (typeof addEventListener2 !== "function") {
    return () => void 0;
  }
  const seen = () => {
    if (document2?.visibilityState !== "hidden") {
      told();
    }
  };
  addEventListener2("online", told);
  document2?.addEventListener("visibilitychange", seen);
  return () => {
    removeEventListener2("online", told);
    document2?.removeEventListener("visibilitychange", seen);
  };
}

// src/core/announcement.ts
function announcement(tools, widgets) {
  return {
    tools: Object.entries(tools).map(([name, tool]) => ({
      name,
      ...tool.metadata?.title && { title: tool.metadata.title },
      description: tool.description,
      parameters: parametersOf(tool.parameters),
      category: tool.category,
      dangerLevel: tool.dangerLevel,
      requiresApproval: tool.requiresApproval,
      idempotent: tool.idempotent,
      timeoutMs: tool.timeoutMs
    })),
    widgets: Object.entries(widgets).map(([name, { description, parameters }]) => ({
      name,
      description,
      parameters: parametersOf(parameters)
    }))
  };
}

// src/client/announcer.ts
var DEFAULT_LEASE_MS = 3e4;
var BEATS_A_LEASE = 3;
var Announcer = class {
  #http;
  #path;
  #told;
  #signal;
  #lent = null;
  /** What was sent last, or is to be sent, without the context. */
  #facts = "";
  #sending = Promise.resolve();
  #beat;
  #leaseMs = DEFAULT_LEASE_MS;
  #isAttached = false;
  constructor(http, session, client, told, signal) {
    this.#http = http;
    this.#path = path`/v1/sessions/${session}/clients/${client}`;
    this.#told = told;
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#detach());
  }
  /** Announce, where names, texts or schemas are others than before. */
  lend(lent) {
    this.#lent = lent;
    const now = JSON.stringify(announcement(lent.tools, lent.widgets));
    if (now !== this.#facts) {
      this.#facts = now;
      this.#send();
    }
  }
  /** Announce once more, without waiting for the next heartbeat. */
  again() {
    this.#send();
  }
  /** When all that was lent so far has reached the server, or was refused. */
  settled() {
    return this.#sending;
  }
  #send() {
    clearTimeout(this.#beat);
    this.#sending = this.#sending.then(() => this.#announce());
  }
  async #announce() {
    const lent = this.#lent;
    if (!lent || this.#signal.aborted) {
      return;
    }
    const known2 = this.#facts;
    try {
      const body = { ...JSON.parse(known2), ...lent.context && { context: lent.context } };
      const said2 = await this.#http.ask("PUT", this.#path, body, { signal: this.#signal });
      if (isRecord(said2) && typeof said2["leaseMs"] === "number") {
        this.#leaseMs = said2["leaseMs"];
      }
      this.#isAttached = true;
      this.#told(null, leftOutOf(said2));
    } catch (error) {
      if (this.#signal.aborted) {
        return;
      }
      this.#told(error, []);
    }
    if (!this.#signal.aborted) {
      clearTimeout(this.#beat);
      this.#beat = setTimeout(() => this.#send(), this.#leaseMs / BEATS_A_LEASE);
    }
  }
  /** What it holds stays its own for a while: a result may be on its way. */
  #detach() {
    clearTimeout(this.#beat);
    if (this.#isAttached) {
      this.#http.ask("DELETE", this.#path, void 0, { isLast: true }).catch(() => void 0);
    }
  }
};
function leftOutOf(said2) {
  const found = isRecord(said2) ? said2["leftOut"] : void 0;
  return Array.isArray(found) ? found : [];
}

// src/client/executor.ts
var PAUSE_MS = 5e3;
var LEAST_PAUSE_MS = 200;
var TOO_LARGE = 413;
var Executor = class {
  #http;
  #session;
  #client;
  #page;
  #signal;
  #waiting = [];
  #isBusy = false;
  /** Offers that were taken, or that are no business of this page's. */
  #done = /* @__PURE__ */ new Set();
  constructor(http, session, client, page, signal) {
    this.#http = http;
    this.#session = session;
    this.#client = client;
    this.#page = page;
    this.#signal = signal;
  }
  /** Take what waits for a page now. */
  consider(calls) {
    this.#waiting = calls;
    if (!this.#isBusy) {
      this.#isBusy = true;
      this.#work().finally(() => {
        this.#isBusy = false;
      });
    }
  }
  async #work() {
    for (; ; ) {
      const call2 = this.#waiting.find(
        (one) => !this.#done.has(offer(one)) && this.#page.find(one.handler) !== void 0
      );
      if (!call2 || this.#signal.aborted) {
        return;
      }
      await this.#take(call2);
    }
  }
  /** Claim a call and execute it, or wait until it is to be claimed again. */
  async #take(call2) {
    await this.#page.announced();
    let claim;
    try {
      claim = await this.#http.ask("POST", this.#path(call2, "claim"), {
        clientId: this.#client
      });
    } catch (error) {
      await this.#refused(call2, error);
      return;
    }
    this.#done.add(offer(call2));
    const { callId, handler: name } = call2;
    const { args, timeoutMs } = claim;
    this.#page.executes(callId);
    const end2 = await executed(this.#page.find, { callId, name, args, timeoutMs }, this.#signal);
    this.#page.executes(null);
    await this.#post(call2, claim, end2);
  }
  async #refused(call2, error) {
    const isRefused = error instanceof RemitError && error.status >= 400 && error.status < 500;
    if (isRefused && error.retryAfterMs === null) {
      this.#done.add(offer(call2));
      return;
    }
    const pause2 = isRefused ? error.retryAfterMs ?? 0 : PAUSE_MS;
    await sleep(Math.max(LEAST_PAUSE_MS, pause2), this.#signal);
  }
  /**
   * Until the server took it: posting it twice is harmless, losing it is not. A session that was
   * left is told once.
   */
  async #post(call2, { claim }, end2) {
    let posted = end2;
    do {
      try {
        const isLast = this.#signal.aborted;
        await this.#http.ask("POST", this.#path(call2, "result"), { claim, ...posted }, { isLast });
        return;
      } catch (error) {
        const status = error instanceof RemitError ? error.status : 0;
        if (status === TOO_LARGE && posted === end2) {
          posted = notPlain(call2.handler, "it is larger than the server takes");
        } else if (status >= 400 && status < 500 && status !== 429) {
          return;
        } else {
          await sleep(PAUSE_MS, this.#signal);
        }
      }
    } while (!this.#signal.aborted);
  }
  #path({ callId }, act) {
    return `${path`/v1/sessions/${this.#session}/calls/${callId}`}/${act}`;
  }
};
function offer({ callId, seq }) {
  return `${callId} ${seq}`;
}

// src/client/handlers.ts
var MAX_TEXT = 1e5;
function ownHandlers(desk) {
  return {
    open_url: handler("Opens a page in a new tab.", async (input2, { callId, signal }) => {
      const url = address(text(input2, "url"));
      await clicked(desk, { callId, kind: "open_url", value: url }, signal);
      return { opened: url };
    }),
    copy_text: handler("Copies a text.", async (input2, { callId, signal }) => {
      const value = text(input2, "text");
      try {
        await navigator.clipboard.writeText(value);
      } catch {
        await clicked(desk, { callId, kind: "copy_text", value }, signal);
      }
      return { copied: true };
    }),
    notify: handler("Tells the user something.", (input2, { callId }) => {
      const words = [input2["title"], text(input2, "text")].filter((one) => typeof one === "string");
      desk.tell({ id: callId, text: words.join(": ") });
      return { shown: true };
    })
  };
}
function handler(description, execute) {
  return {
    description,
    parameters: { type: "object", properties: {} },
    execute: (input2, context) => execute(isRecord(input2) ? input2 : {}, context)
  };
}
function text(input2, name) {
  const found = input2[name];
  if (typeof found !== "string" || found === "" || found.length > MAX_TEXT) {
    throw new Error(`${name} has to be a text of 1 to ${MAX_TEXT} characters.`);
  }
  return found;
}
function address(given) {
  const url = URL.canParse(given) ? new URL(given) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) {
    throw new Error("url has to be an absolute http or https address.");
  }
  return url.href;
}
function clicked(desk, prompt, signal) {
  return new Promise((done, fail) => {
    const refuse = () => fail(new Error("The user did not want it."));
    desk.ask({ ...prompt, done, refuse }, signal);
  });
}

// src/client/snapshot.ts
var CONNECTING = {
  state: START,
  link: "connecting",
  fault: null,
  lendingFault: null,
  leftOut: [],
  executing: null,
  isStopping: false,
  outbox: [],
  prompts: [],
  notices: [],
  isCaughtUp: false
};

// src/client/connection.ts
var Connection = class {
  #http;
  #client = randomId();
  #ended = new AbortController();
  #listeners = /* @__PURE__ */ new Set();
  #make;
  #begun = null;
  #beginning = null;
  #snapshot = CONNECTING;
  #definitions;
  /** Where the log was when this page came: what happened before is not news. */
  #headThen = null;
  /** Numbers of the events that messages of the outbox became. */
  #sent = /* @__PURE__ */ new Map();
  /** Since when the run goes on that is being stopped. */
  #stopping = null;
  /** What is typed and not sent: it outlives the chat that is unmounted. */
  draft = "";
  constructor(options) {
    const { session } = options;
    this.#http = new Http(options);
    this.#definitions = options;
    if (typeof session === "string") {
      this.#make = async () => session;
      this.#start(session);
    } else {
      this.#make = session;
      this.#snapshot = { ...CONNECTING, link: "open", isCaughtUp: true };
    }
  }
  /** Id of the session; null until it is made. */
  get session() {
    return this.#begun?.session ?? null;
  }
  #start(session) {
    const signal = this.#ended.signal;
    const told = (fault2, leftOut) => this.#lendingTold(fault2, leftOut);
    const announcer = new Announcer(this.#http, session, this.#client, told, signal);
    const own = ownHandlers({
      ask: (prompt, until) => this.#ask(prompt, until),
      tell: (notice) => this.#set({ notices: [...this.#snapshot.notices, notice] })
    });
    const find = (handler2) => entry(this.#definitions.tools ?? {}, handler2) ?? entry(own, handler2);
    const page = {
      find,
      announced: () => announcer.settled(),
      executes: (executing) => this.#set({ executing })
    };
    const executor = new Executor(this.#http, session, this.#client, page, signal);
    this.#begun = { session, announcer, executor };
    this.#lend();
    this.#follow(session);
    return this.#begun;
  }
  /** The session, which the first message makes where it is not there. */
  async #ensured() {
    if (this.#begun) {
      return this.#begun;
    }
    this.#beginning ??= this.#make().then((session) => this.#start(session));
    try {
      return await this.#beginning;
    } finally {
      this.#beginning = null;
    }
  }
  /** What is to be shown; the same object until something changes. */
  snapshot = () => this.#snapshot;
  /** Be told when the snapshot has changed; gives back what ends it. */
  subscribe = (listener) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  /** What the page lends from now on: it reaches the agent on its next run. */
  update(definitions) {
    this.#definitions = definitions;
    this.#lend();
    this.#execute();
  }
  /**
   * Say something. While something waits for an answer this takes it back; while the agent works
   * it is the next message. Where it cannot be sent it stays in the outbox, with the reason.
   */
  async send(text2) {
    const id = randomId();
    this.#set({ outbox: [...this.#snapshot.outbox, { id, text: text2, fault: null }] });
    await this.#deliver(id, text2);
  }
  /** Try once more to send what is in the outbox. */
  async retry(id) {
    const found = this.#snapshot.outbox.find((one) => one.id === id);
    if (found?.fault != null) {
      this.#outgoing(id, { fault: null });
      await this.#deliver(id, found.text);
    }
  }
  /** Take back what could not be sent. */
  discard(id) {
    this.#set({ outbox: this.#snapshot.outbox.filter((one) => one.id !== id) });
  }
  /**
   * Answer what waits for a person. The first answer decides: another one's is taken as it stands,
   * and comes as an event.
   *
   * @returns the input as it stands where it is another one by now, else null.
   * @throws RemitError
   */
  async answer(input2, answer) {
    try {
      await this.#post(path`human-input/${input2.id}`, answer);
      return null;
    } catch (error) {
      const stands = error instanceof RemitError ? error.problem["input"] : void 0;
      if (isRecord(stands)) {
        return stands["status"] === "open" ? stands : null;
      }
      throw error;
    }
  }
  /** Stop the run: what was not sent is not sent. @throws RemitError */
  async cancel() {
    this.#stopping = { since: this.#snapshot.state.runningSince };
    this.#set({});
    try {
      await this.#post("cancel", {});
    } catch (error) {
      this.#stopping = null;
      this.#set({});
      throw error;
    }
  }
  /** Leave the session, which goes on without this page. */
  close() {
    this.#ended.abort();
    this.#listeners.clear();
  }
  async #post(what, body) {
    const { session } = await this.#ensured();
    return this.#http.ask("POST", `${path`/v1/sessions/${session}`}/${what}`, body);
  }
  async #deliver(id, text2) {
    const { context } = this.#definitions;
    const isWaiting = this.#snapshot.state.status === "waiting_human";
    try {
      const { announcer } = await this.#ensured();
      if (this.#isRefused) {
        announcer.again();
      }
      await announcer.settled();
      const said2 = await this.#post("messages", {
        text: text2,
        clientId: this.#client,
        ...context && { context },
        ...isWaiting ? { withdraw: true } : { queue: true }
      });
      const seq = isRecord(said2) && typeof said2["seq"] === "number" ? said2["seq"] : 0;
      this.#sent.set(id, seq);
      this.#set({});
      this.#resume();
    } catch (error) {
      this.#outgoing(id, { fault: wordsOf(error) });
    }
  }
  #outgoing(id, changes) {
    const change2 = (one) => one.id === id ? { ...one, ...changes } : one;
    this.#set({ outbox: this.#snapshot.outbox.map(change2) });
  }
  #lend() {
    const { tools = {}, widgets = {}, context } = this.#definitions;
    this.#begun?.announcer.lend({ tools, widgets, context });
  }
  /** What the server says to what the page lends; who builds the page is told of it once. */
  #lendingTold(fault2, leftOut) {
    const { lendingFault, leftOut: before, link: link2 } = this.#snapshot;
    const isElse = fault2 instanceof RemitError && [0, 401].includes(fault2.status);
    const now = {
      lendingFault: isElse ? null : fault2?.message ?? null,
      leftOut: fault2 ? before : leftOut
    };
    if (JSON.stringify(now) !== JSON.stringify({ lendingFault, leftOut: before })) {
      this.#set(now);
      const left2 = now.leftOut.map(({ name, reason }) => `${name} is left out: ${reason}`);
      const words = [now.lendingFault, ...left2].join("\n").trim();
      if (words) {
        console.warn(words);
      }
    }
    if (!fault2 && link2 === "signed_out") {
      this.#resume();
    }
  }
  #ask(prompt, until) {
    const gone = () => {
      this.#set({ prompts: this.#snapshot.prompts.filter((one) => one !== shown3) });
    };
    const shown3 = {
      ...prompt,
      done: () => {
        gone();
        prompt.done();
      },
      refuse: () => {
        gone();
        prompt.refuse();
      }
    };
    until.addEventListener("abort", gone);
    this.#set({ prompts: [...this.#snapshot.prompts, shown3] });
  }
  async #follow(session) {
    const reader = {
      headSeq: () => this.#snapshot.state.headSeq,
      events: (events) => {
        this.#set({ state: reduceAll(this.#snapshot.state, events) });
      },
      reset: () => this.#set({ state: START }),
      open: () => {
        this.#set({ link: "open" });
        this.#readHead(session);
      },
      lost: (isOffline) => this.#set({ link: isOffline ? "offline" : "lost" }),
      over: (why) => {
        const isSignedOut = why !== "closed" && why.status === 401;
        const fault2 = why === "closed" ? null : why.message;
        this.#set({ link: isSignedOut ? "signed_out" : "over", fault: fault2 });
      }
    };
    await follow(this.#http, session, reader, this.#ended.signal);
  }
  /** Who was let in to say something is let in to read what follows. */
  #resume() {
    if (this.#begun && this.#isRefused) {
      this.#set({ link: "connecting", fault: null });
      this.#follow(this.#begun.session);
    }
  }
  get #isRefused() {
    const { link: link2, fault: fault2 } = this.#snapshot;
    return link2 === "signed_out" || link2 === "over" && fault2 !== null;
  }
  /** A call that waits since before this page came is only known once all is read. */
  async #readHead(session) {
    if (this.#headThen !== null) {
      return;
    }
    try {
      const found = await this.#http.ask("GET", path`/v1/sessions/${session}`, void 0, {
        signal: this.#ended.signal
      });
      this.#headThen = isRecord(found) ? Number(found["headSeq"] ?? 0) : 0;
    } catch {
      this.#headThen = 0;
    }
    this.#set({});
  }
  #set(changes) {
    if (this.#ended.signal.aborted) {
      return;
    }
    const next = { ...this.#snapshot, ...changes };
    const { headSeq: head, status, runningSince } = next.state;
    const isStopping = this.#stopping?.since === runningSince && status !== "idle" && status !== "closed";
    if (!isStopping) {
      this.#stopping = null;
    }
    const isCaughtUp = next.isCaughtUp || this.#headThen !== null && head >= this.#headThen;
    const outbox = next.outbox.filter(({ id }) => (this.#sent.get(id) ?? Infinity) > head);
    this.#snapshot = {
      ...next,
      isCaughtUp,
      isStopping,
      outbox: outbox.length === next.outbox.length ? next.outbox : outbox
    };
    for (const listener of this.#listeners) {
      listener();
    }
    this.#execute();
  }
  #execute() {
    const { isCaughtUp, state, link: link2 } = this.#snapshot;
    if (isCaughtUp && link2 === "open" && state.clientCalls.length > 0) {
      this.#begun?.executor.consider(state.clientCalls);
    }
  }
};
export {
  Chat,
  Connection,
  Http,
  RemitError,
  button,
  card,
  clock,
  dress,
  el,
  embed,
  folded,
  markdown,
  pairs,
  path,
  pre,
  pretty,
  settled,
  shown2 as shown,
  textsOf,
  visible
};
