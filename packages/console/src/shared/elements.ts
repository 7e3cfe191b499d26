import { FieldError, RefusedError } from './answers.ts'

// Building blocks of the console's pages: elements, tables, forms and messages. Text of other people is never HTML.

/** Attributes of an element; undefined ones are left out. Event handlers are added by `addEventListener` only. */
type Attributes = Readonly<Record<string, string | undefined>>
export type Child = Node | string

/**
 * Makes an HTML element. Strings become text nodes, so they are never parsed as HTML; the page's content security policy
 * (`require-trusted-types-for`) forbids such parsing as well.
 */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const newElement = document.createElement(name)
  setAttributes(newElement, attributes)
  newElement.append(...children)
  return newElement
}

const svgNamespace = 'http://www.w3.org/2000/svg'

export function svgElement<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[Name] {
  const newElement = document.createElementNS(svgNamespace, name)
  setAttributes(newElement, attributes)
  newElement.append(...children)
  return newElement
}

function setAttributes(target: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) target.setAttribute(name, value)
  }
}

/** Invisible characters, and characters that change how their neighbours are shown, such as direction marks. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu
const shownMax = 120
/** Most characters that are processed, so that a huge text costs little. */
const readMax = 4 * shownMax

/** Makes foreign text safe to show: invisible characters become `⟨U+200B⟩`, and a long text is cut. */
export function safeText(text: string): string {
  const plain = text
    .slice(0, readMax)
    .replace(
      invisible,
      (character) => `⟨U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}⟩`,
    )
  const characters = [...plain]
  return characters.length > shownMax || text.length > readMax
    ? `${characters.slice(0, shownMax).join('')}…`
    : plain
}

/** An element with foreign text, isolated (`bdi`) so that right-to-left text cannot reorder what stands beside it. */
export function foreign(text: string): HTMLElement {
  return element('bdi', {}, safeText(text))
}

/** Beginning and end of a long id, enough to tell it from others by eye. */
function shortened(id: string): string {
  return id.length <= shortMax ? id : `${id.slice(0, 10)}…${id.slice(-6)}`
}
const shortMax = 20

/**
 * An id, shown shortened, with a button that copies it in full.
 * @param name what the id is, e.g. `order of 0x12`: a screen reader says it for the button
 * @param address URL of an explorer's page about the id
 */
export function copyable(id: string, name: string, address?: string): HTMLElement {
  if (id === '') return element('span', {}, '—')
  const code = element('code', { title: safeText(id) }, foreign(shortened(id)))
  const label = address === undefined ? code : linkTo(address, `${name} in the explorer`, code)
  return element('span', { class: 'id' }, label, copyButton(id, name))
}

/** @param name what the button copies; it is shown and said in place of the text, which may be a secret */
export function copyButton(text: string, name: string): HTMLButtonElement {
  const label = `Copy ${safeText(name)}`
  const button = element('button', { type: 'button', class: 'copy', 'aria-label': label }, copyIcon())
  button.addEventListener('click', () => {
    runAndAnnounce(async () => {
      await copy(text)
      return `Copied ${safeText(name)}.`
    })
  })
  return button
}

/** Two overlapping sheets, drawn because not every font has such a symbol. */
function copyIcon(): SVGSVGElement {
  const sheet = (x: string, y: string) => svgElement('rect', { x, y, width: '9', height: '9', rx: '1.5' })
  return svgElement(
    'svg',
    { class: 'icon', viewBox: '0 0 16 16', 'aria-hidden': 'true' },
    sheet('2', '2'),
    sheet('5', '5'),
  )
}

/** A link to another host. `noreferrer` hides the address of this page from it. */
function linkTo(address: string, name: string, content: Child): HTMLElement {
  const attributes = {
    href: address,
    'aria-label': safeText(name),
    target: '_blank',
    rel: 'noopener noreferrer',
  }
  return element('a', attributes, content)
}

/** Copies a text. Without https browsers offer no clipboard API, so there the text is selected and copied by command. */
async function copy(text: string): Promise<void> {
  if (window.isSecureContext) return navigator.clipboard.writeText(text)
  const focused = document.activeElement
  const area = element('textarea', { 'aria-hidden': 'true' })
  area.value = text
  document.body.append(area)
  area.select()
  const isDone = document.execCommand('copy')
  area.remove()
  if (focused instanceof HTMLElement) focused.focus()
  if (!isDone) throw new Error('This browser copies nothing here.')
}

/** The element of the page's HTML with an id. @throws Error if it is missing or of another kind, which is a bug */
export function elementById<Kind extends Element>(id: string, kind: new () => Kind): Kind {
  const candidate = document.getElementById(id)
  if (!(candidate instanceof kind)) throw new Error(`the page has no ${id}`)
  return candidate
}

/** Replaces the content of the element with an id; without children, empties it. */
export function setContent(id: string, ...children: readonly Child[]): void {
  elementById(id, HTMLElement).replaceChildren(...children)
}

/**
 * Replaces the content of a section while a reader may use it: keeps the keyboard focus and the scroll positions of
 * tables, by the elements' `aria-label`. Does nothing while the reader selects text there; the next refresh replaces it.
 */
export function refreshContent(id: string, ...children: readonly Child[]): void {
  const section = elementById(id, HTMLElement)
  const selection = getSelection()
  if (selection?.isCollapsed === false && section.contains(selection.anchorNode)) return
  const labelOf = (labelled: Element | null) => labelled?.getAttribute('aria-label') ?? null
  const focusedLabel = section.contains(document.activeElement) ? labelOf(document.activeElement) : null
  const allLabelled = () => [...section.querySelectorAll<HTMLElement>('[aria-label]')]
  const scrollByLabel = new Map(allLabelled().map((labelled) => [labelOf(labelled), labelled.scrollLeft]))
  section.replaceChildren(...children)
  for (const labelled of allLabelled()) {
    labelled.scrollLeft = scrollByLabel.get(labelOf(labelled)) ?? 0
    if (focusedLabel !== null && labelOf(labelled) === focusedLabel) labelled.focus({ preventScroll: true })
  }
}

/**
 * Replaces the choices of a select field. The selected value stays selected if it is still among them.
 * @param choices pairs of a value and its shown text
 */
export function setChoices(id: string, choices: readonly (readonly [string, string])[]): void {
  const field = elementById(id, HTMLSelectElement)
  const { value } = field
  field.replaceChildren(...choices.map(([choice, text]) => element('option', { value: choice }, text)))
  if (choices.some(([choice]) => choice === value)) field.value = value
}

/** Moves the keyboard focus to an element after the focused one was removed or the page changed. */
export function moveFocus(id: string): void {
  elementById(id, HTMLElement).focus()
}

/** Replaces the status line above the sections. Screen readers say it aloud. */
export function announce(text: string): void {
  setContent('status', text)
}

type Row = readonly Child[]

/** A table with caption and headings. @param emptyText sentence that replaces a table without rows */
export function table(
  caption: string,
  headings: readonly string[],
  rows: readonly Row[],
  emptyText: string,
): HTMLElement {
  if (rows.length === 0) return element('p', { class: 'none' }, emptyText)
  const head = element('tr', {}, ...headings.map((heading) => element('th', { scope: 'col' }, heading)))
  const body = rows.map(([first, ...others]) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, first ?? ''),
      ...others.map((cell) => element('td', {}, cell)),
    ),
  )
  const tableElement = element(
    'table',
    {},
    element('caption', {}, caption),
    element('thead', {}, head),
    element('tbody', {}, ...body),
  )
  // The `tabindex` lets readers scroll a wide table by keyboard.
  return element(
    'div',
    { class: 'scroll', role: 'region', 'aria-label': caption, tabindex: '0' },
    tableElement,
  )
}

/** A list of names, each with its value. */
export function factList(pairs: readonly (readonly [string, Child])[]): HTMLElement {
  return element(
    'dl',
    {},
    ...pairs.map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value))),
  )
}

/**
 * Runs code when a form is submitted, in place of the browser's own submit.
 * @param run resolves to the message to announce
 * @param resultId id of the element that shows the result: a failure empties it, so that no earlier result stays
 */
export function onSend(id: string, run: (fields: FormData) => Promise<string>, resultId?: string): void {
  const form = elementById(id, HTMLFormElement)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    // A double click submits once. Otherwise it would create two keys, for example.
    if (form.getAttribute('aria-busy') === 'true') return
    const fields = new FormData(form)
    clearProblem(id)
    form.setAttribute('aria-busy', 'true')
    announce('Loading…')
    run(fields)
      .then(announce)
      .catch((error: unknown) => {
        if (resultId !== undefined) setContent(resultId)
        showProblem(form, problemIdOf(id), error)
      })
      .finally(() => form.removeAttribute('aria-busy'))
  })
}

/** Runs code when a button is pressed. @param run resolves to the message to announce */
export function onPress(id: string, run: () => Promise<string>): void {
  elementById(id, HTMLButtonElement).addEventListener('click', () => runAndAnnounce(run))
}

/** Announces the message that the code resolves to, or its error. */
function runAndAnnounce(run: () => Promise<string>): void {
  run().then(announce, (error: unknown) => announce(messageOf(error)))
}

/** Id of the paragraph with a form's problem. Takes the id as text: `form.id` may be a field with the name `id`. */
const problemIdOf = (formId: string) => `${formId}-problem`

/** Announces an error, shows it beside its field, and focuses that field. */
function showProblem(form: HTMLFormElement, id: string, error: unknown): void {
  const message = messageOf(error)
  announce(message)
  const field = faultyField(form, error)
  if (field === undefined) return
  form.append(element('p', { id, class: 'problem' }, message))
  field.setAttribute('aria-invalid', 'true')
  field.setAttribute(
    'aria-describedby',
    [field.getAttribute('aria-describedby'), id].filter(Boolean).join(' '),
  )
  field.focus()
}

/** Removes the shown problem of a form's last submission. */
export function clearProblem(formId: string): void {
  const [form, problemId] = [elementById(formId, HTMLFormElement), problemIdOf(formId)]
  document.getElementById(problemId)?.remove()
  for (const field of form.querySelectorAll('[aria-invalid]')) {
    field.removeAttribute('aria-invalid')
    const describedBy = (field.getAttribute('aria-describedby') ?? '').split(' ')
    const otherIds = describedBy.filter((id) => id !== problemId)
    if (otherIds.join('') === '') field.removeAttribute('aria-describedby')
    else field.setAttribute('aria-describedby', otherIds.join(' '))
  }
}

/** The field that the error names; for a refusal (4xx), the form's only field. Undefined if no field is at fault. */
function faultyField(form: HTMLFormElement, error: unknown): HTMLElement | undefined {
  const fields = [...form.querySelectorAll<HTMLInputElement | HTMLSelectElement>('input, select')]
  if (error instanceof FieldError) return fields.find(({ name }) => name === error.field)
  const isRefused = error instanceof RefusedError && error.status >= 400 && error.status < 500
  return isRefused && fields.length === 1 ? fields[0] : undefined
}

export function fieldOf(fields: FormData, name: string): string {
  const value = fields.get(name)
  return typeof value === 'string' ? value.trim() : ''
}

export function messageOf(error: unknown): string {
  return safeText(error instanceof Error ? error.message : String(error))
}
