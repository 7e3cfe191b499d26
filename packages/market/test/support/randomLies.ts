import type { NodeAnswer, NodeCall } from './recordedChain.ts'

/** Behaviour of a liar for one request: other answers, or none. */
export type Lie = {
  readonly name: string
  /** Answers in the order of the calls; `undefined` never answers. */
  readonly answer: (
    calls: readonly NodeCall[],
    truth: readonly NodeAnswer[],
  ) => readonly NodeAnswer[] | undefined
  /** Changes the text that goes out. */
  readonly send?: (text: string) => string
  /** Milliseconds that the liar waits before it answers; default 0. */
  readonly delayMs?: number
}

type Random = (below: number) => number

/** Numbers from a seed: the same lie can be told again, and by two at once. */
function createRandom(seed: number): Random {
  let state = (Math.imul(seed + 1, 2_654_435_761) ^ 0x9e3779b9) >>> 0
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 3_266_489_917) >>> 0
    return (state >>> 3) % below
  }
}

/**
 * A lie that is told in every answer: scales, swaps, delays, cuts, replays, invents or withholds. Which member it
 * is told of follows from the seed and the call, so liars with one seed tell the same.
 */
export function randomLie(seed: number): Lie {
  const kinds = [
    ...[scale, scaleNumbers, swapMembers, swapAnswers, delay, cut],
    ...[replay, invent, drop, hang, refuse],
  ]
  const kind = kinds[seed % kinds.length] ?? scale
  return kind(seed)
}

const factors = [2n, 3n, 10n, 400n, 30_000n]

/** One 32-byte word or quantity somewhere in each answer is multiplied, or divided. */
function scale(seed: number): Lie {
  return inEachText('scale', seed, (text, random) => {
    const factor = factors[random(factors.length)] ?? 2n
    const isDivided = random(3) === 0
    return onNumber(text, random, (value) => (isDivided ? value / factor : value * factor))
  })
}

/** Every quantity of each answer: gas as a whole, feeds as a whole. */
function scaleNumbers(seed: number): Lie {
  const factor = factors[seed % factors.length] ?? 2n
  return {
    name: `scaleNumbers ${factor}`,
    answer: (_calls, truth) =>
      truth.map((answer) =>
        'result' in answer
          ? { result: mapTexts(answer.result, (text) => timesQuantity(text, factor)) }
          : answer,
      ),
  }
}

function timesQuantity(text: string, factor: bigint): string {
  return /^0x[0-9a-f]{1,20}$/.test(text) ? `0x${(BigInt(text) * factor).toString(16)}` : text
}

/** Two words of each answer change places. */
function swapMembers(seed: number): Lie {
  return inEachText('swapMembers', seed, (text, random) => {
    const words = text.slice(2).match(/.{64}/g)
    if (words === null || words.length < 2) return text
    const [a, b] = [random(words.length), random(words.length)]
    const swapped = words.with(a, words[b] ?? '').with(b, words[a] ?? '')
    return `0x${swapped.join('')}${text.slice(2 + 64 * words.length)}`
  })
}

/** The answers of one request change places. */
function swapAnswers(): Lie {
  return { name: 'swapAnswers', answer: (_calls, truth) => truth.toReversed() }
}

/** A scaled answer that comes between the honest ones or after them; they take a millisecond or two. */
function delay(seed: number): Lie {
  const delayMs = 1 + createRandom(seed)(20)
  return { ...scale(seed), name: `scale after ${delayMs} ms`, delayMs }
}

/** The answer ends somewhere. */
function cut(seed: number): Lie {
  const random = createRandom(seed)
  const part = random(100)
  return {
    name: 'cut',
    answer: (_calls, truth) => truth,
    send: (text) => text.slice(0, Math.floor((text.length * part) / 100)),
  }
}

/** Liar that repeats the first true answer for every later call of the same method. */
function replay(): Lie {
  const first = new Map<string, NodeAnswer>()
  return {
    name: 'replay',
    answer: (calls, truth) =>
      calls.map((call, index) => {
        const kept = first.get(call.method) ?? truth[index] ?? { result: null }
        first.set(call.method, kept)
        return kept
      }),
  }
}

/** One value of each answer is another of the same shape. */
function invent(seed: number): Lie {
  return inEachText('invent', seed, (text, random) => {
    const at = 2 + random(Math.max(text.length - 2, 1))
    const digit = ((Number.parseInt(text[at] ?? '0', 16) || 0) + 1 + random(15)) % 16
    return text.length < 3 ? `${text}1` : text.slice(0, at) + digit.toString(16) + text.slice(at + 1)
  })
}

/** A member is missing, or nothing is there at all. */
function drop(seed: number): Lie {
  const random = createRandom(seed)
  const left = random(3)
  return {
    name: 'drop',
    answer: (_calls, truth) =>
      truth.map((answer) => {
        if (!('result' in answer) || left === 0) return { result: null }
        if (left === 1) return { result: Array.isArray(answer.result) ? [] : '0x' }
        const entries = typeof answer.result === 'object' ? Object.entries(Object(answer.result)) : []
        return entries.length === 0
          ? { result: undefined }
          : { result: Object.fromEntries(entries.toSpliced(random(entries.length), 1)) }
      }),
  }
}

function hang(): Lie {
  return { name: 'hang', answer: () => undefined }
}

/** An error in place of an answer, which may look like a revert. */
function refuse(seed: number): Lie {
  const error =
    seed % 2 === 0 ? { code: 3, message: 'execution reverted', data: '0x' } : { code: -32_000, message: 'no' }
  return { name: 'refuse', answer: (_calls, truth) => truth.map(() => ({ error })) }
}

function inEachText(name: string, seed: number, change: (text: string, random: Random) => string): Lie {
  return {
    name,
    answer: (calls, truth) =>
      truth.map((answer, index) => {
        if (!('result' in answer)) return answer
        const random = createRandom(seed * 31 + (calls[index]?.method.length ?? 0) * 7 + index)
        const texts: string[] = []
        mapTexts(answer.result, (text) => {
          texts.push(text)
          return text
        })
        const chosen = random(Math.max(texts.length, 1))
        let at = -1
        const result = mapTexts(answer.result, (text) => {
          at += 1
          return at === chosen ? change(text, random) : text
        })
        return { result }
      }),
  }
}

/** The number at a random place: the quantity itself, or one word of longer data. */
function onNumber(text: string, random: Random, change: (value: bigint) => bigint): string {
  const hex = text.slice(2)
  if (!/^0x[0-9a-f]+$/.test(text)) return text
  if (hex.length < 64) return `0x${change(BigInt(text)).toString(16)}`
  const words = Math.floor(hex.length / 64)
  // Most words of a list are places and lengths: one that says something is looked for.
  const start = random(words)
  for (let step = 0; step < words; step += 1) {
    const at = ((start + step) % words) * 64
    const value = BigInt(`0x${hex.slice(at, at + 64)}`)
    if (value <= 4_096n) continue
    const changed = BigInt.asUintN(256, change(value)).toString(16).padStart(64, '0')
    return `0x${hex.slice(0, at)}${changed}${hex.slice(at + 64)}`
  }
  return text
}

function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((member) => mapTexts(member, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, mapTexts(member, change)]))
}
