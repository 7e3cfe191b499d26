import { describe, expect, test } from 'vitest'
import { burntAccounts, reservedAccount } from './reservedAccounts.ts'

const numbered = (number: bigint) => `0x${number.toString(16).padStart(40, '0')}`
const predeploys = BigInt(`0x42${'0'.repeat(38)}`)

describe('an account is of the network', () => {
  test.each([
    ['its first precompile', numbered(1n), 'a precompile, or a contract of the network itself'],
    ['the last low number', numbered(0xffffn), 'a precompile, or a contract of the network itself'],
    ['the first predeploy', numbered(predeploys), 'a predeploy of the network'],
    ['the last predeploy', numbered(predeploys + 2_047n), 'a predeploy of the network'],
    ['the beacon roots', '0x000f3df6d732807ef1319fb7b8bb8522d0beac02', 'a contract of the network itself'],
    ['Multicall3', '0xca11bde05977b3631167028862be2a173976ca11', 'a contract that anybody empties'],
    [
      'Permit2',
      '0x000000000022d473030f116ddee9f6b43ac78ba3',
      'a public contract that keeps money for nobody',
    ],
  ])('%s', (_what, account, description) => {
    expect(reservedAccount(account)).toBe(description)
  })

  test.each([
    ['the number after the low ones', numbered(0x10000n)],
    ['the number before the predeploys', numbered(predeploys - 1n)],
    ['the number after the predeploys', numbered(predeploys + 2_048n)],
    ['the largest number', `0x${'f'.repeat(40)}`],
    ['what is longer than an address', `${numbered(1n)}00`],
    ['what is shorter', '0x01'],
    ['what only ends like one', `1${numbered(1n)}`],
    ['what is no hex', `0x${'z'.repeat(40)}`],
    // A rule of its own keeps these from being paid.
    ...burntAccounts.map((account) => ['an address of nobody', account]),
  ])('but not %s', (_what, account) => {
    expect(reservedAccount(account)).toBeUndefined()
  })
})
