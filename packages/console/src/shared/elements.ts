import { FieldError, RefusedError } from './answers.ts'

/** Attributes of an element, as text. Handlers are added by code, never by a name. */
type Attributes = Readonly<Record<string, string | undefined>>
export type Child = Node | string

/**
 * Makes an element. Text becomes text nodes, so nothing that a label says is ever read as HTML; the policy of the page
 * forbids what would be (`require-trusted-types-for`).
 */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name)
  setAttributes(made, attributes)
  made.append(...children)
  return made
}

const svgNamespace = 'http://www.w3.org/2000/svg'

export function drawing<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[Name] {
  const made = document.createElementNS(svgNamespace, name)
  setAttributes(made, attributes)
  made.append(...children)
  return made
}

function setAttributes(made: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) made.setAttribute(name, value)
  }
}

/** Characters that change how their neighbours are shown, or that are not shown at all. */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu
const shownMax = 120

/** Foreign text, as it may stand beside ours: what is unseen becomes visible, and what is long is cut. */
export function visible(text: string): string {
  const plain = text
    .slice(0, 4 * shownMax)
    .replace(
      unseen,
      (character) => `⟨U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}⟩`,
    )
  const characters = [...plain]
  return characters.length > shownMax || text.length > 4 * shownMax
    ? `${characters.slice(0, shownMax).join('')}…`
    : plain
}

/** Foreign text in a cell of its own direction, so that it cannot turn what stands beside it. */
export function foreign(text: string): HTMLElement {
  return element('bdi', {}, visible(text))
}

/** As much of a long id as tells it from others by eye. */
function shortened(id: string): string {
  return id.length <= shortMax ? id : `${id.slice(0, 10)}…${id.slice(-6)}`
}
const shortMax = 20

/**
 * An id, shown short beside a button that copies it whole.
 * @param name the id's own in its place, for whoever hears the button and does not see it
 * @param address where more is told about it
 */
export function copyable(id: string, name: string, address?: string): HTMLElement {
  if (id === '') return element('span', {}, '—')
  const code = element('code', { title: visible(id) }, foreign(shortened(id)))
  const shown = address === undefined ? code : linkTo(address, `${name} in the explorer`, code)
  return element('span', { class: 'id' }, shown, copyButton(id, name))
}

/** @param name what it copies, which is said instead of the text itself: that may be a secret */
export function copyButton(text: string, name: string): HTMLButtonElement {
  const label = `Copy ${visible(name)}`
  const button = element('button', { type: 'button', class: 'copy', 'aria-label': label }, copyIcon())
  button.addEventListener('click', () => {
    act(async () => {
      await copy(text)
      return `Copied ${visible(name)}.`
    })
  })
  return button
}

/** Drawn, because not every font has a sign for it. */
function copyIcon(): SVGSVGElement {
  const sheet = (x: string, y: string) => drawing('rect', { x, y, width: '9', height: '9', rx: '1.5' })
  return drawing(
    'svg',
    { class: 'icon', viewBox: '0 0 16 16', 'aria-hidden': 'true' },
    sheet('2', '2'),
    sheet('5', '5'),
  )
}

/** A link to another host, which learns nothing of this page. */
function linkTo(address: string, name: string, shown: Child): HTMLElement {
  const told = { href: address, 'aria-label': visible(name), target: '_blank', rel: 'noopener noreferrer' }
  return element('a', told, shown)
}

/** Browsers have a clipboard on secure addresses alone; elsewhere what is selected can be copied. */
async function copy(text: string): Promise<void> {
  if (window.isSecureContext) return navigator.clipboard.writeText(text)
  const before = document.activeElement
  const area = element('textarea', { 'aria-hidden': 'true' })
  area.value = text
  document.body.append(area)
  area.select()
  const isDone = document.execCommand('copy')
  area.remove()
  if (before instanceof HTMLElement) before.focus()
  if (!isDone) throw new Error('This browser copies nothing here.')
}

/** @throws Error where a page lacks what its code needs */
export function found<Kind extends Element>(id: string, kind: new () => Kind): Kind {
  const there = document.getElementById(id)
  if (!(there instanceof kind)) throw new Error(`the page has no ${id}`)
  return there
}

/** An element whose content is replaced as a whole. */
export function show(id: string, ...children: readonly Child[]): void {
  found(id, HTMLElement).replaceChildren(...children)
}

/**
 * Shows anew what somebody may be reading: what had the focus has it again, and tables stay scrolled. What somebody is
 * selecting is left as it is, to be shown anew the next time.
 */
export function renew(id: string, ...children: readonly Child[]): void {
  const place = found(id, HTMLElement)
  const selection = getSelection()
  if (selection?.isCollapsed === false && place.contains(selection.anchorNode)) return
  const nameOf = (one: Element | null) => one?.getAttribute('aria-label') ?? null
  const focusedName = place.contains(document.activeElement) ? nameOf(document.activeElement) : null
  const named = () => [...place.querySelectorAll<HTMLElement>('[aria-label]')]
  const scrolled = new Map(named().map((one) => [nameOf(one), one.scrollLeft]))
  place.replaceChildren(...children)
  for (const one of named()) {
    one.scrollLeft = scrolled.get(nameOf(one)) ?? 0
    if (focusedName !== null && nameOf(one) === focusedName) one.focus({ preventScroll: true })
  }
}

/**
 * Choices of a field, as long as they are others than before: what was chosen stays.
 * @param choices values with what is shown for them
 */
export function offer(id: string, choices: readonly (readonly [string, string])[]): void {
  const field = found(id, HTMLSelectElement)
  const { value } = field
  field.replaceChildren(...choices.map(([one, text]) => element('option', { value: one }, text)))
  if (choices.some(([one]) => one === value)) field.value = value
}

/** Moves the keyboard focus to an element after the focused one was removed or the page changed. */
export function moveFocus(id: string): void {
  found(id, HTMLElement).focus()
}

/** Said aloud by screen readers, and shown above the sections, in place of what was said before. */
export function announce(text: string): void {
  show('status', text)
}

type Row = readonly Child[]

/** A table with a caption and headings; where it has no rows, a sentence in its place. */
export function table(
  caption: string,
  headings: readonly string[],
  rows: readonly Row[],
  none: string,
): HTMLElement {
  if (rows.length === 0) return element('p', { class: 'none' }, none)
  const head = element('tr', {}, ...headings.map((heading) => element('th', { scope: 'col' }, heading)))
  const body = rows.map(([first, ...others]) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, first ?? ''),
      ...others.map((cell) => element('td', {}, cell)),
    ),
  )
  const made = element(
    'table',
    {},
    element('caption', {}, caption),
    element('thead', {}, head),
    element('tbody', {}, ...body),
  )
  // Wide tables scroll by keyboard too.
  return element('div', { class: 'scroll', role: 'region', 'aria-label': caption, tabindex: '0' }, made)
}

/** Names and values. */
export function facts(pairs: readonly (readonly [string, Child])[]): HTMLElement {
  return element(
    'dl',
    {},
    ...pairs.map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value))),
  )
}

/**
 * Runs when a form is sent; the page itself is never left.
 * @param run ends with what is said then
 * @param shown where the answer is shown: a refused look-up leaves nothing of the one before there
 */
export function onSend(id: string, run: (fields: FormData) => Promise<string>, shown?: string): void {
  const form = found(id, HTMLFormElement)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    // Whoever presses twice asks once: a second key would be made.
    if (form.getAttribute('aria-busy') === 'true') return
    const fields = new FormData(form)
    forgive(id)
    form.setAttribute('aria-busy', 'true')
    announce('Loading…')
    run(fields)
      .then(announce)
      .catch((error: unknown) => {
        if (shown !== undefined) show(shown)
        blame(form, problemOf(id), error)
      })
      .finally(() => form.removeAttribute('aria-busy'))
  })
}

/** @param run ends with what is said then */
export function onPress(id: string, run: () => Promise<string>): void {
  found(id, HTMLButtonElement).addEventListener('click', () => act(run))
}

function act(run: () => Promise<string>): void {
  run().then(announce, (error: unknown) => announce(messageOf(error)))
}

/** Id of what is wrong. Not of `form.id`, which is a field that is called so. */
const problemOf = (formId: string) => `${formId}-problem`

/** Announces an error to screen readers, shows it beside its field, and focuses that field. */
function blame(form: HTMLFormElement, id: string, error: unknown): void {
  const message = messageOf(error)
  announce(message)
  const field = blamedField(form, error)
  if (field === undefined) return
  form.append(element('p', { id, class: 'problem' }, message))
  field.setAttribute('aria-invalid', 'true')
  field.setAttribute(
    'aria-describedby',
    [field.getAttribute('aria-describedby'), id].filter(Boolean).join(' '),
  )
  field.focus()
}

/** Clears what was wrong with a form before. */
export function forgive(formId: string): void {
  const [form, id] = [found(formId, HTMLFormElement), problemOf(formId)]
  document.getElementById(id)?.remove()
  for (const field of form.querySelectorAll('[aria-invalid]')) {
    field.removeAttribute('aria-invalid')
    const described = (field.getAttribute('aria-describedby') ?? '').split(' ').filter((one) => one !== id)
    if (described.join('') === '') field.removeAttribute('aria-describedby')
    else field.setAttribute('aria-describedby', described.join(' '))
  }
}

/** The field that the error names; of a refusal, the only field there is. Of anything else no field is to blame. */
function blamedField(form: HTMLFormElement, error: unknown): HTMLElement | undefined {
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
  return visible(error instanceof Error ? error.message : String(error))
}
