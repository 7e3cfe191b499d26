import fc from 'fast-check'
import { encodeErrorResult, parseAbi } from 'viem'
import { expect, test } from 'vitest'
import { revertReason } from '../simulation/simulationErrors.ts'

const abi = parseAbi(['error Error(string)', 'error Panic(uint256)', 'error NotAllowed(address)'])
const withText = (text: string) => encodeErrorResult({ abi, errorName: 'Error', args: [text] })

test.each([
  ['a reason', withText('transfer amount exceeds balance'), 'transfer amount exceeds balance'],
  ['a reason with other characters', withText('a\n\u0000b\u202e é'), 'ab'],
  ['a long reason', withText('x'.repeat(5_000)), 'x'.repeat(200)],
  ['an empty reason', withText(''), 'it reverts'],
  ['a panic', encodeErrorResult({ abi, errorName: 'Panic', args: [0x11n] }), 'panic 0x11'],
  ['its own error', '0xf4d678b8', 'it reverts with 0xf4d678b8'],
  ['a broken reason', '0x08c379a0ff', 'it reverts with 0x08c379a0'],
  ['nothing', '0x', 'it reverts'],
  ['no text', undefined, 'it reverts'],
])('a call that reverts with %s', (_name, data, reason) => {
  expect(revertReason(data)).toBe(reason)
})

test('whatever a contract returns, the reason is short and printable', () => {
  const bytes = fc.uint8Array({ maxLength: 300 })
  fc.assert(
    fc.property(fc.constantFrom('0x', '0x08c379a0', '0x4e487b71'), bytes, (start, rest) => {
      const reason = revertReason(`${start}${Buffer.from(rest).toString('hex')}`)
      expect(reason).toMatch(/^[\x20-\x7e]{1,200}$/)
    }),
  )
})
