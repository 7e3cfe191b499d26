import { bitcoinBodies } from '@causeway/localnet/standIns/bitcoin'

/** Numbers from a seed: the same lie can be told again. */
function createRandom(seed: number): (below: number) => number {
  let state = (seed + 1) * 2_654_435_761
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 3_266_489_917) >>> 0
    return state % below
  }
}

const others = [
  '',
  'null',
  '{}',
  '[]',
  '0',
  '"text"',
  '1e400',
  '[null]',
  JSON.stringify(bitcoinBodies.emptyResult.body),
  '<html>',
]

/** An answer, plain or JSON, with one to three things changed in its text. */
export function mutateText(text: string, seed: number): string {
  const random = createRandom(seed)
  if (random(8) === 0) return others[random(others.length)] ?? ''
  let changed = text
  for (let left = 1 + random(3); left > 0; left -= 1) changed = changeOnce(changed, random)
  return changed
}

function changeOnce(text: string, random: (below: number) => number): string {
  const at = random(Math.max(text.length, 1))
  const [before, character = '', after] = [text.slice(0, at), text[at], text.slice(at + 1)]
  switch (random(6)) {
    case 0:
      return before + after
    case 1:
      return before + character + character + after
    case 2:
      return text.slice(0, at)
    case 3:
      return text.replace(/true|false|null/, (word) => (word === 'true' ? 'false' : 'true'))
    case 4:
      return text.replace(/:(\d+)/, (_all, digits: string) => `:${BigInt(digits) + 1n}`)
    default: {
      const digit = Number.parseInt(character, 16)
      return before + (Number.isNaN(digit) ? '0' : ((digit + 1 + random(15)) % 16).toString(16)) + after
    }
  }
}
