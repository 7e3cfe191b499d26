// Goal of an attacker: pay a denied account under another spelling or on another chain; or, as the server of the list,
// have it empty.

import { codecOf, mainNetwork } from '@causeway/core/encodings'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  denyListEntriesMax,
  isDenied,
  parseDenyList,
  refuseReplacement,
  unionOfDenyLists,
} from './denyList.ts'

const checksummed = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const solanaAccount = 'DWFvc5SXkZrxmbgQ7HzrKuPkVBdZpHZfDLvqDRZZvB9j'
const bitcoinAccount = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'
const tronAccount = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8'
const other = '0x52908400098527886e0f7030069857d2e4169ee7'
const keyId = 'abcdefghij'

const listOf = (denied: object, perKey?: object) =>
  parseDenyList(JSON.stringify({ version: 1, denied, ...(perKey !== undefined && { perKey }) }))
const ethereum = codecOf(mainNetwork('ethereum-vm'))
const solana = codecOf(mainNetwork('solana-vm'))
const bitcoin = codecOf(mainNetwork('bitcoin-vm'))

describe('an account of hex', () => {
  const list = listOf({ 'ethereum-vm': [checksummed] })

  test('is denied in every mix of cases', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }), (upper) => {
        const digits = [...checksummed.slice(2)].map((digit, at) =>
          upper[at] === true ? digit.toUpperCase() : digit.toLowerCase(),
        )
        expect(isDenied(list, ethereum, `0x${digits.join('')}`, undefined)).toBe(true)
      }),
    )
    expect(isDenied(list, ethereum, other, undefined)).toBe(false)
  })

  test('O-175: is the same 20 bytes in every family that spells accounts so, whichever one lists them', () => {
    const hyperliquid = codecOf(mainNetwork('hyperliquid-vm'))
    expect(isDenied(list, hyperliquid, checksummed, undefined)).toBe(true)
    const otherWay = listOf({ 'hyperliquid-vm': [checksummed] })
    expect(isDenied(otherWay, ethereum, checksummed.toLowerCase(), undefined)).toBe(true)
  })
})

test('O-175: base58 is taken as it is written: another case is another account', () => {
  const list = listOf({ 'solana-vm': [solanaAccount], 'tron-vm': [tronAccount] })
  expect(isDenied(list, solana, solanaAccount, undefined)).toBe(true)
  expect(isDenied(list, solana, solanaAccount.toLowerCase(), undefined)).toBe(false)
  expect(isDenied(list, codecOf(mainNetwork('tron-vm')), tronAccount, undefined)).toBe(true)
})

test('bech32 is folded, base58 of Bitcoin is not', () => {
  const legacy = '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2'
  const list = listOf({ 'bitcoin-vm': [bitcoinAccount.toUpperCase(), legacy] })
  expect(isDenied(list, bitcoin, bitcoinAccount, undefined)).toBe(true)
  expect(isDenied(list, bitcoin, bitcoinAccount.toUpperCase(), undefined)).toBe(true)
  expect(isDenied(list, bitcoin, legacy, undefined)).toBe(true)
  expect(isDenied(list, bitcoin, legacy.toLowerCase(), undefined)).toBe(false)
})

test('O-176: entries of a key are for its requests alone, beyond those for everybody', () => {
  const list = listOf({ 'ethereum-vm': [checksummed] }, { [keyId]: { 'ethereum-vm': [other] } })
  expect(list.entries).toBe(2)
  expect(isDenied(list, ethereum, other, keyId)).toBe(true)
  expect(isDenied(list, ethereum, other, undefined)).toBe(false)
  expect(isDenied(list, ethereum, other, 'jihgfedcba')).toBe(false)
  expect(isDenied(list, ethereum, checksummed, keyId)).toBe(true)
  for (const name of ['constructor', '__proto__', 'toString'])
    expect(isDenied(list, ethereum, other, name)).toBe(false)
})

test('what is no address of a family is on no list, and breaks nothing', () => {
  const list = listOf({ 'ethereum-vm': [checksummed] })
  fc.assert(fc.property(fc.string(), (text) => !isDenied(list, ethereum, text, undefined)))
})

test('several lists deny what any of them denies', () => {
  const both = unionOfDenyLists([
    listOf({ 'ethereum-vm': [checksummed] }),
    listOf({ 'ethereum-vm': [other] }, { [keyId]: { 'solana-vm': [solanaAccount] } }),
  ])
  expect(both.entries).toBe(3)
  expect(isDenied(both, ethereum, checksummed, undefined)).toBe(true)
  expect(isDenied(both, ethereum, other, undefined)).toBe(true)
  expect(isDenied(both, solana, solanaAccount, keyId)).toBe(true)
  expect(isDenied(both, solana, solanaAccount, undefined)).toBe(false)
})

describe('the text of a list', () => {
  const entry = (address: string) =>
    JSON.stringify({ version: 1, denied: { 'ethereum-vm': [other, address] } })

  test.each([
    ['no JSON', '{"version": 1', 'the list is no JSON'],
    ['a page of HTML', '<html></html>', 'the list is no JSON'],
    ['no object', '[]', 'the list is wrong at its root'],
    ['nothing denied', '{"version":1}', 'the list is wrong at denied'],
    ['another version', '{"version":2,"denied":{}}', 'the list is wrong at version'],
    ['a misspelled member', '{"version":1,"denied":{},"denyed":{}}', 'the list is wrong at its root'],
    ['an unknown family', '{"version":1,"denied":{"evm":[]}}', 'the list is wrong at denied'],
    ['a key that is none', '{"version":1,"denied":{},"perKey":{"x":{}}}', 'the list is wrong at perKey.x'],
    ['text that is no address', entry('sesame'), 'denied.ethereum-vm.1 is no address of EVM'],
    ['an address of another family', entry(solanaAccount), 'denied.ethereum-vm.1 is no address of EVM'],
    ['the account of nobody', entry(`0x${'0'.repeat(40)}`), 'denied.ethereum-vm.1 is no address of EVM'],
    [
      'a wrong entry of a key',
      JSON.stringify({ version: 1, denied: {}, perKey: { [keyId]: { 'solana-vm': ['0'] } } }),
      `perKey.${keyId}.solana-vm.0 is no address of Solana`,
    ],
  ])('with %s is refused as a whole, at the place', (_what, text, problem) => {
    expect(() => parseDenyList(text)).toThrow(problem)
  })

  test('repeats no entry in a refusal', () => {
    expect(() => parseDenyList(entry('hunter2'))).toThrow(expect.not.objectContaining({ message: /hunter2/ }))
  })

  test('of too many entries is refused', () => {
    const address = (index: number) => `0x${(index + 1).toString(16).padStart(40, '0')}`
    const many = Array.from({ length: denyListEntriesMax + 1 }, (_, index) => address(index))
    expect(() => listOf({ 'ethereum-vm': many })).toThrow(`more than ${denyListEntriesMax}`)
  })

  test('counts an address that it repeats once', () => {
    expect(listOf({ 'ethereum-vm': [other, other.toUpperCase().replace('0X', '0x')] }).entries).toBe(1)
  })
})

describe('a list that became shorter', () => {
  test.each([
    [100, undefined, undefined],
    [1, undefined, undefined],
    [0, undefined, 'the list has 0 entries, less than 1'],
    [100, 100, undefined],
    [50, 100, undefined],
    [49, 100, 'the list has 49 entries, less than half of the 100 that it had'],
    [0, 1, 'the list has 0 entries, less than 1'],
    [1, 3, 'the list has 1 entries, less than half of the 3 that it had'],
  ])('%s entries, where it had %s', (entries, entriesMost, expected) => {
    expect(refuseReplacement({ entries }, { entriesMost, entriesMin: 1 })).toBe(expected)
  })

  test('may be empty only where the operator says so', () => {
    expect(refuseReplacement({ entries: 0 }, { entriesMin: 0 })).toBeUndefined()
    expect(refuseReplacement({ entries: 999 }, { entriesMin: 1_000 })).toContain('less than 1000')
  })
})
