import type { Hex } from '@causeway/core'
import { checksumAddress } from '@causeway/core/encodings'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { classifyTopUps } from './classifyTopUps.ts'
import { encodeTopUp } from './encodeTopUp.ts'
import {
  account,
  amount,
  custody,
  directCall,
  logOf,
  marker,
  named,
  sender,
  target,
  token,
  transferCall,
  transferFromCall,
} from './testSupport/calls.ts'
import type { TopUpFacts } from './topUp.ts'

const isLongForm = process.env['CAUSEWAY_FAULTS'] === '1'
const numRuns = isLongForm ? 100_000 : 5_000

const hexOf = (minLength: number, maxLength: number) =>
  fc.uint8Array({ minLength, maxLength }).map((bytes) => Buffer.from(bytes).toString('hex'))
const someAddress = hexOf(20, 20).map((digits): Hex => `0x${digits}`)
const owner = fc.oneof(
  someAddress,
  fc.constantFrom(account('00'), account('33'), sender, custody, token, account('09', 1)),
)
const tail = fc.oneof(
  owner.map(named),
  fc.tuple(owner.map(named), hexOf(0, 40)).map(([tail, more]) => `${tail}${more}`),
  fc.tuple(hexOf(0, 40), owner.map(named)).map(([before, tail]) => `${before}${tail}`),
  hexOf(0, 300),
  hexOf(26, 26).map((bytes) => `${marker}${bytes}`),
  hexOf(26, 26).map((bytes) => `${bytes}${marker}`),
)
const shaped = fc.oneof(
  fc.tuple(someAddress, hexOf(1, 40)).map(([owner, more]) => transferCall(`${named(owner)}${more}`)),
  tail.map((tail) => transferCall(tail)),
  tail.map((tail) => transferFromCall(sender, tail)),
  tail.map((tail) => transferFromCall(account('55'), tail)),
  owner.map((owner) => transferFromCall(sender, named(owner))),
  fc.constant(transferFromCall(sender, named(account('00')))),
  hexOf(0, 400).map((digits): Hex => `0x${digits}`),
)
const input = fc.oneof(
  shaped,
  fc
    .tuple(shaped, fc.nat(100), fc.integer({ min: 1, max: 255 }))
    .map(([hex, at, mask]) => flipped(hex, at, mask)),
  fc.tuple(shaped, fc.nat(140)).map(([hex, length]): Hex => `0x${hex.slice(2, 2 + 2 * length)}`),
  shaped.map((hex): Hex => `0xac9650d8${hex.slice(2)}`),
)
const facts: fc.Arbitrary<TopUpFacts> = fc.record({
  succeeded: fc.constant(true),
  from: fc.constantFrom(sender, sender, account('55'), custody),
  to: fc.constantFrom<Hex | undefined>(token, token, token, account('77'), undefined),
  input,
  logs: fc
    .array(
      fc.record({
        from: fc.constantFrom(sender, sender, account('55'), custody),
        value: fc.constantFrom(amount, amount, amount, 0n, amount + 1n),
      }),
      { maxLength: 3 },
    )
    .map((logs) => logs.map((log, ordinal) => logOf({ ...log, ordinal }))),
})

/** One transaction for each code, so that no code is left to chance. */
const ofEachCode: readonly (readonly [code: string, facts: TopUpFacts])[] = [
  ['ok', directCall(transferCall(named(account('33'))))],
  ['ok_trailing', directCall(transferCall(`${named(account('33'))}ab`))],
  ['bad_tail', directCall(transferCall(marker))],
  ['no_tail', directCall(transferCall(''))],
  ['bad_owner', directCall(transferCall(named(custody)))],
  ['ambiguous_sender', directCall(transferFromCall(sender, named(account('00'))))],
  ['unknown_call', directCall('0x')],
  ['indirect', { ...directCall('0x'), to: account('77') }],
]

function flipped(hex: Hex, at: number, mask: number): Hex {
  const bytes = Buffer.from(hex.slice(2), 'hex')
  const byte = bytes[at]
  if (byte !== undefined) bytes[at] = byte ^ mask
  return `0x${bytes.toString('hex')}`
}

/** The table again, over text and with patterns: shares no line with what it checks. */
function judgedByPattern({ from, to, input, logs }: TopUpFacts): readonly string[] {
  let isUsed = false
  const rest = logs.map((log) => {
    if (to !== token) return { log, parse: 'indirect' }
    const amountText = log.value.toString(16).padStart(64, '0')
    const ends = `0{24}${custody.slice(2)}${amountText}`
    const own = new RegExp(`^0xa9059cbb${ends}(.*)$`).exec(input)
    const pulled = new RegExp(`^0x23b872dd0{24}${log.from.slice(2)}${ends}(.*)$`).exec(input)
    const tail = (log.from === from ? own : null)?.[1] ?? pulled?.[1]
    if (tail === undefined || isUsed) return { log, parse: undefined }
    isUsed = true
    return { log, parse: parseOf(tail, from, pulled === null) }
  })
  return rest
    .map(({ log, parse }) => ({ log, parse: parse ?? (isUsed ? 'indirect' : 'unknown_call') }))
    .filter(({ log }) => log.value !== 0n && log.from !== custody)
    .map(({ parse }) => parse)
}

function parseOf(tail: string, caller: Hex, isTransfer: boolean): string {
  const whole = new RegExp(`^${marker}(.{40})${marker}(.*)$`).exec(tail)
  if (whole === null) {
    if (tail === '') return 'no_tail'
    if (tail.length < 64) return 'bad_tail'
    return tail.startsWith(marker) || tail.slice(52, 64) === marker ? 'bad_tail' : 'no_tail'
  }
  const isZero = whole[1] === '0'.repeat(40)
  if (isZero && !isTransfer) return 'ambiguous_sender'
  const owner = isZero ? caller : `0x${whole[1]}`
  if (owner === custody || owner === token || /^0x0{38}(0[0-9a-f]|10|11)$/.test(owner)) return 'bad_owner'
  return `${whole[2] === '' ? 'ok' : 'ok_trailing'} ${owner}`
}

describe('top-up calldata', () => {
  test('is classified as the table says, whatever its bytes', () => {
    const seen = new Map<string, number>()
    fc.assert(
      fc.property(facts, (facts) => {
        const parses = classifyTopUps(facts, target).map(({ verdict }) =>
          verdict.kind === 'credit' ? `${verdict.parse} ${verdict.owner}` : verdict.parse,
        )
        expect(parses).toEqual(judgedByPattern(facts))
        for (const parse of parses) {
          const [code = ''] = parse.split(' ')
          seen.set(code, (seen.get(code) ?? 0) + 1)
        }
      }),
      {
        numRuns,
        endOnFailure: true,
        examples: ofEachCode.map(([, facts]): [TopUpFacts] => [facts]),
      },
    )
    for (const [code] of ofEachCode) expect(seen.get(code) ?? 0, code).toBeGreaterThan(0)
  })

  test('with any one byte changed is judged anew: no change names another owner unnoticed', () => {
    const whole = transferCall(named(account('33')))
    for (let at = 0; at < 100; at += 1) {
      for (const mask of [0x01, 0x80, 0xff]) {
        const facts = directCall(flipped(whole, at, mask))
        const [transfer] = classifyTopUps(facts, target)
        const owner = transfer?.verdict.kind === 'credit' ? transfer.verdict.owner : undefined
        const isInOwner = at >= 74 && at < 94
        expect(owner).toBe(isInOwner ? `0x${facts.input.slice(2 + 148, 2 + 188)}` : undefined)
      }
    }
  })

  test('never credits an owner that is neither named nor sending', () => {
    fc.assert(
      fc.property(facts, (facts) => {
        for (const { verdict, log } of classifyTopUps(facts, target)) {
          if (verdict.kind !== 'credit') continue
          const isNamed = facts.input.includes(`${marker}${verdict.owner.slice(2)}${marker}`)
          expect(isNamed || verdict.owner === log.from).toBe(true)
        }
      }),
      { numRuns: numRuns / 5, endOnFailure: true },
    )
  })

  test('of the builder credits exactly the wallet it was built for, in any case of its digits', () => {
    const spelled = fc
      .tuple(someAddress, fc.constantFrom('lower', 'upper', 'checksum'))
      .map(([address, spelling]) => ({ address, text: spell(address, spelling) }))
    fc.assert(
      fc.property(spelled, fc.bigInt({ min: 1n, max: 2n ** 256n - 1n }), ({ address, text }, value) => {
        fc.pre(BigInt(address) > 0x11n)
        const { to, data } = encodeTopUp({ token, custody, amountMicroUsd: value, owner: text })
        const [transfer] = classifyTopUps({ ...directCall(data), to, logs: [logOf({ value })] }, target)
        expect(transfer?.verdict).toEqual({ kind: 'credit', parse: 'ok', owner: address })
      }),
      { numRuns: numRuns / 5, endOnFailure: true },
    )
  })
})

function spell(address: Hex, spelling: string): string {
  if (spelling === 'checksum') return checksumAddress(address)
  return spelling === 'upper' ? `0x${address.slice(2).toUpperCase()}` : address
}
