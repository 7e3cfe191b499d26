// Goal: what clients of tokens and of predeploys know by number is what the local contracts have.
// Every literal is the published one, of ERC-20, EIP-2612, EIP-3009 and the OP-stack GasPriceOracle.
import { type Abi, type AbiEvent, type AbiFunction, toEventSelector, toFunctionSelector } from 'viem'
import { describe, expect, test } from 'vitest'
import * as abis from './abis.generated.ts'

function selectors(abi: Abi, name: string): readonly string[] {
  return abi
    .filter((entry): entry is AbiFunction => entry.type === 'function' && entry.name === name)
    .map((entry) => toFunctionSelector(entry))
    .sort()
}

function event(abi: Abi, name: string): AbiEvent {
  const found = abi.find((entry): entry is AbiEvent => entry.type === 'event' && entry.name === name)
  if (found === undefined) throw new Error(`no event ${name}`)
  return found
}

describe('selectors', () => {
  test.each([
    ['token', abis.tokenAbi, 'approve', ['0x095ea7b3']],
    ['token', abis.tokenAbi, 'transfer', ['0xa9059cbb']],
    ['token', abis.tokenAbi, 'transferFrom', ['0x23b872dd']],
    ['token', abis.tokenAbi, 'permit', ['0xd505accf']],
    ['token', abis.tokenAbi, 'transferWithAuthorization', ['0xcf092995', '0xe3ee160e']],
    ['token', abis.tokenAbi, 'receiveWithAuthorization', ['0x88b7ab63', '0xef55bec6']],
    ['gas price oracle', abis.gasPriceOracleAbi, 'getL1Fee', ['0x49948e0e']],
    ['gas price oracle', abis.gasPriceOracleAbi, 'l1BaseFee', ['0x519b4bd3']],
  ])('%s has %s%s', (_contract, abi, name, expected) => {
    expect(selectors(abi, name)).toEqual(expected)
  })
})

describe('events', () => {
  test.each([
    ['token', abis.tokenAbi],
    ['wrapped native', abis.wrappedNativeAbi],
  ])('a transfer of the %s is an ERC-20 transfer with both parties indexed', (_token, abi) => {
    const found = event(abi, 'Transfer')
    expect(toEventSelector(found)).toBe('0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef')
    expect(found.inputs.map(({ indexed }) => indexed ?? false)).toEqual([true, true, false])
  })
})
