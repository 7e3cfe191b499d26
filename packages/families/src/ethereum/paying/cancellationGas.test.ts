// Goal: a nonce can be freed on every chain. Attack: a chain that takes data as gas refuses the usual limit, and a node
// that names an absurd one must not make the cancellation dearer than the wallet can pay.
import { expect, test } from 'vitest'
import { cancellationGas } from './ethereumPayingChain.ts'

const told = (result: unknown) => ({ ok: true as const, result })

test.each([
  ['the usual one, where the chain asks for no more', told('0x5208'), 21_000n],
  ['what the chain asks for with room, where data is gas', told('0x249f0'), 245_000n],
  ['the usual one, where a node asks for too much', told('0x1e8481'), 21_000n],
  ['the usual one, where a node says next to nothing', told('0x1'), 21_000n],
  ['the usual one, where a node talks nonsense', told('0xzz'), 21_000n],
  ['the usual one, where no text came', told(null), 21_000n],
  ['the usual one, where the node refuses', { ok: false as const, code: -32_000, message: 'busy' }, 21_000n],
  ['the usual one, where nobody answers', undefined, 21_000n],
] as const)('the limit of a cancellation is %s', (_what, answer, gas) => {
  expect(cancellationGas(answer)).toBe(gas)
})
