import { expect, test } from 'vitest'
import { confirmationsOf, describeFinality } from './finality.ts'

test('O-147: is four confirmations where nothing is configured, else what is', () => {
  const rule = (settings: object) =>
    describeFinality(confirmationsOf({ id: 'bitcoin', finality: undefined, additionalData: {}, ...settings }))
  expect(rule({})).toBe('4 confirmations')
  const additionalData = { finalizationBlocks: 6 }
  expect(rule({ additionalData })).toBe('6 confirmations')
  expect(rule({ additionalData, finality: { mode: 'depth', blocks: 0 } })).toBe('1 confirmations')
  expect(() => rule({ finality: { mode: 'time', seconds: 9 } })).toThrow('Bitcoin has the mode depth alone')
})
