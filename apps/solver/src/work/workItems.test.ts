// Goal: an operator reads which field of a work item is wrong. Attack: a payload of several forms, none of which it is, so
// that the fault has no place of its own.
import { expect, test } from 'vitest'
import { readItem } from './workItems.ts'

const hex = (bytes: number) => `0x${'ab'.repeat(bytes)}`

test.each(['sweep', 'permit', 'fill', 'recovery'] as const)('a broken %s names its fields', (kind) => {
  const read = readItem({ id: 'one', kind, payload: { orderSignature: hex(1), chainId: 'one' } })
  expect(read).toMatchObject({ kind: 'broken', reason: expect.stringMatching(/^the payload is wrong at \w/) })
})
