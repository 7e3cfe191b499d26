import { expect, test } from 'vitest'
import { firstDifference } from './allocatorPayloadFamily.ts'

const call = { to: '0x01', value: 5n, list: [{ amount: 1n }] }

test.each<[string, object, string | undefined]>([
  [
    'no difference, whatever the order of members',
    { list: [{ amount: 1n }], value: 5n, to: '0x01' },
    undefined,
  ],
  ['a text', { ...call, to: '0x02' }, 'to'],
  ['an amount', { ...call, value: 6n }, 'value'],
  ['an amount that is a text in the other', { ...call, value: '5' }, 'value'],
  ['an amount that is a number in the other', { ...call, value: 5 }, 'value'],
  ['an amount within a list', { ...call, list: [{ amount: 2n }] }, 'list'],
  ['a member that only the one has', { to: '0x01', value: 5n }, 'list'],
  ['a member that only the other has', { ...call, more: 1 }, 'more'],
  ['the first of several', { ...call, to: '0x02', value: 6n }, 'to'],
])('between two withdrawals is named: %s', (_what, other, name) => {
  expect(firstDifference(call, other)).toBe(name)
})
