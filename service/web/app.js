"use strict";
// Only the public API, and text only ever as text: an abstract can't become markup.

const $ = (id) => document.getElementById(id);
let running = null;

function element(tag, text, className) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function paperLine(item) {
  const parts = [item.title || item.paper_id, (item.authors || []).slice(0, 4).join(", "), item.venue, item.year];
  const line = element("p", parts.filter(Boolean).join(" · "), "paper");
  if (item.retracted) line.prepend(element("span", "Retracted. ", "retracted"));
  if (item.url && /^https?:\/\//.test(item.url)) {
    const link = element("a", " link");
    link.href = item.url;
    link.rel = "noreferrer";
    line.append(link);
  }
  return line;
}

function showSentence(sentence) {
  const span = element("span", undefined, "sentence " + (sentence.verdict || ""));
  span.title = sentence.why || sentence.verdict || "";
  for (const part of sentence.text.split(/(\[\d+\])/)) {
    const number = /^\[(\d+)\]$/.exec(part);
    if (!number) { span.append(part); continue; }
    const mark = element("a", part, "mark");
    mark.href = "#quote-" + number[1];
    span.append(mark);
  }
  return span;
}

function showAnswer(answer) {
  $("answer").replaceChildren();
  let place = 0;
  const letters = Array.from(answer.answer);
  for (const sentence of answer.sentences) {
    $("answer").append(letters.slice(place, sentence.start).join(""), showSentence(sentence));
    place = sentence.end;
  }
  $("reason").textContent = answer.reason || "";
  $("citations").replaceChildren(...answer.citations.map((citation) => {
    const item = element("li");
    item.id = "quote-" + citation.number;
    item.append(element("blockquote", citation.quote), paperLine(citation));
    return item;
  }));
  const near = answer.hits.length ? answer.hits : answer.near_misses;
  $("hits").replaceChildren(...near.map((hit) => {
    const item = element("li");
    item.append(element("blockquote", hit.text), paperLine(hit));
    return item;
  }));
  $("more").hidden = !near.length;
  $("status").textContent = answer.status === "abstained" ? "" : `${answer.status} in ${answer.timings_ms.total} ms by ${answer.provenance.model}`;
}

async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    waiting += value;
    const blocks = waiting.split("\n\n");
    waiting = blocks.pop();
    for (const block of blocks) {
      const name = /^event: (.*)$/m.exec(block);
      const data = /^data: (.*)$/m.exec(block);
      if (name && data) yield [name[1], JSON.parse(data[1])];
    }
  }
}

async function ask(question, verify) {
  running = new AbortController();
  const reply = await fetch("v1/ask", {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
    body: JSON.stringify({ question, verify, stream: true }),
    signal: running.signal,
  });
  if (!reply.ok) throw new Error((await reply.json()).detail || reply.statusText);
  for await (const [name, data] of events(reply.body)) {
    if (name === "text") $("answer").append(data.text);
    if (name === "answer") return showAnswer(data);
    if (name === "error") throw new Error(data.detail);
  }
  throw new Error("The service ended the reply before its end; ask again.");
}

$("ask").addEventListener("submit", async (event) => {
  event.preventDefault();
  if (running) running.abort();
  $("reply").hidden = false;
  for (const id of ["answer", "citations", "hits"]) $(id).replaceChildren();
  $("reason").textContent = "";
  $("more").hidden = true;
  $("status").textContent = "Looking…";
  $("stop").hidden = false;
  try {
    await ask($("question").value, $("verify").value);
  } catch (error) {
    $("status").textContent = error.name === "AbortError" ? "Stopped." : error.message;
  }
  $("stop").hidden = true;
  running = null;
});

$("stop").addEventListener("click", () => running && running.abort());

$("question").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); $("ask").requestSubmit(); }
});

fetch("v1/collections").then((reply) => reply.json()).then((found) => {
  const all = found.collections || found;
  const one = all.find((each) => each.name === "default");
  if (one) $("collection").textContent = `${one.papers} papers.`;
}).catch(() => {});
