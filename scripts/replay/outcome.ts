import type { Form } from './forms.ts'

/** Members of an answer that are read, by name; compared as texts. */
export type Facts = Readonly<Record<string, unknown>>

/** A file: its text, and the result in it, without the envelope of JSON-RPC. */
export type Recorded = { readonly text: string; readonly result: unknown }

/** One kind of answer, recognised by its shape. */
export type RecordKind = {
  readonly name: string
  readonly fits: (recorded: Recorded) => boolean
  /** The reader that services use. Throws `Refusal` where it says that there is nothing to read. */
  readonly read: (recorded: Recorded) => Facts | Promise<Facts>
  /** The family's library: what it finds must be what the reader found. */
  readonly library?: (recorded: Recorded) => Facts | Promise<Facts>
  /** The published form of the answer. A record that has it not was shortened or altered, and is no finding. */
  readonly form?: Form
}

export type Outcome =
  | { readonly kind: 'read' }
  | { readonly kind: 'refused' | 'not understood' | 'differs'; readonly reason: string }

/** A reader understood the answer, and it holds nothing that counts. */
export class Refusal extends Error {}

export const refused = (reason: string): Outcome => ({ kind: 'refused', reason })

/** Reads one record. What neither the reader nor the library reads is refused, and so is a record that is no such answer. */
export async function readRecord(kinds: readonly RecordKind[], recorded: Recorded): Promise<Outcome> {
  const kind = kinds.find(({ fits }) => fits(recorded))
  if (kind === undefined) return refused('no service asks for such an answer')
  const outcome = await compareReadings(kind, recorded)
  if (outcome.kind === 'read' || outcome.kind === 'refused') return outcome
  const fault = kind.form?.(recorded.result)
  return fault === undefined ? outcome : refused(`${kind.name}: no such answer: ${fault}`)
}

async function compareReadings({ name, read, library }: RecordKind, recorded: Recorded): Promise<Outcome> {
  const own = await attempt(() => read(recorded))
  if (own instanceof Refusal) return refused(`${name}: ${own.message}`)
  const other = library === undefined ? undefined : await attempt(() => library(recorded))
  if (own instanceof Error) {
    const reason = `${name}: ${wordsOf(own)}`
    return other instanceof Error
      ? refused(`${reason}; nor does the library`)
      : { kind: 'not understood', reason }
  }
  if (other === undefined) return { kind: 'read' }
  if (other instanceof Error) return { kind: 'differs', reason: `${name}: the library: ${wordsOf(other)}` }
  // Only what the library has, too, can differ.
  const member = Object.keys(other).find(
    (one) => other[one] !== undefined && textOf(own[one]) !== textOf(other[one]),
  )
  if (member === undefined) return { kind: 'read' }
  const [ours, theirs] = [textOf(own[member]), textOf(other[member])].map((text) => text.slice(0, shownMax))
  return { kind: 'differs', reason: `${name}: ${member} is ${ours}, the library has ${theirs}` }
}

const shownMax = 80

async function attempt(work: () => Facts | Promise<Facts>): Promise<Facts | Error> {
  try {
    return await work()
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

/** The error, the answer that it names, and its cause: a wrong type is a fault of the reader. */
function wordsOf(error: Error): string {
  const { data, cause } = Object(error)
  const words = [error.name, error.message, Object(data)['what'], cause instanceof Error && cause.message]
  return words
    .filter((word) => typeof word === 'string' && word !== '')
    .join(' ')
    .replaceAll('\n', ' ')
}

function textOf(value: unknown): string {
  return (
    JSON.stringify(value, (_name, one: unknown) =>
      typeof one === 'bigint'
        ? `${one}n`
        : one instanceof Uint8Array
          ? Buffer.from(one).toString('hex')
          : one,
    ) ?? 'undefined'
  )
}

export const ok = (result: unknown) => ({ ok: true, result }) as const

export function has(value: unknown, ...members: readonly string[]): boolean {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isRecord && members.every((member) => Object.hasOwn(value, member))
}

export const isListOf = (value: unknown, ...members: readonly string[]): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((one) => has(one, ...members))
