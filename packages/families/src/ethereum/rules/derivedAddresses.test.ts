// Goal: addresses and salts that contracts derive are derived here alike, and name one order, one depositor and one
// price. The contracts' own derivations are written out with viem; `packages/localnet` compares them with real ones.

import { ethereumCodec } from '@causeway/core/encodings'
import { encodeAbiParameters, getContractAddress, type Hex, keccak256, parseAbiParameters } from 'viem'
import { describe, expect, test } from 'vitest'
import { create2Address } from './contractAddress.ts'
import { contractAddressing, depositAddressOf } from './depositAddress.ts'
import { depositOrderSalt, depositSwapSalt } from './depositSalts.ts'
import { orderCloneAddress } from './orderClone.ts'

const account = (digit: string): Hex => `0x${digit.repeat(40)}`
const word = (digit: string): Hex => `0x${digit.repeat(64)}`
const bytesOf = (hex: Hex) => Uint8Array.from(Buffer.from(hex.slice(2), 'hex'))

test('CREATE2 addresses are those of EIP-1014', () => {
  const expected = getContractAddress({
    opcode: 'CREATE2',
    from: account('5'),
    salt: word('7'),
    bytecodeHash: word('8'),
  })
  expect(create2Address(account('5'), bytesOf(word('7')), word('8'))).toBe(expected.toLowerCase())
})

describe('the clone of an order', () => {
  const terms = {
    fillContract: account('5'),
    filler: account('1'),
    orderSalt: word('a'),
    recipient: account('2'),
    calls: [
      { to: account('3'), data: '0xabcdef', value: 4n },
      { to: account('4'), data: '0x', value: 0n },
    ],
  } as const

  test('stands at the address that the fill contract computes', () => {
    const implementation = getContractAddress({ from: terms.fillContract, nonce: 1n }).slice(2).toLowerCase()
    const bytecode: Hex = `0x3d602d80600a3d3981f3363d3d373d3d3d363d73${implementation}5af43d82803e903d91602b57fd5bf3`
    const calls = encodeAbiParameters(parseAbiParameters('(address to, bytes data, uint256 value)[]'), [
      terms.calls,
    ])
    const salt = encodeAbiParameters(parseAbiParameters('address, bytes32, address, bytes32'), [
      terms.filler,
      terms.orderSalt,
      terms.recipient,
      keccak256(calls),
    ])
    const expected = getContractAddress({
      opcode: 'CREATE2',
      from: terms.fillContract,
      salt: keccak256(salt),
      bytecode,
    })
    expect(orderCloneAddress(terms)).toBe(expected.toLowerCase())
  })

  test('is another one for another filler, order, recipient or call', () => {
    const changes = [
      {},
      { filler: account('9') },
      { orderSalt: word('b') },
      { recipient: account('9') },
      { calls: terms.calls.slice(0, 1) },
      { calls: terms.calls.map((call) => ({ ...call, value: 5n })) },
    ]
    const addresses = changes.map((change) => orderCloneAddress({ ...terms, ...change }))
    expect(new Set(addresses).size).toBe(changes.length)
  })
})

describe('a deposit address', () => {
  const contract = { contract: account('6'), sweepCodeHash: word('c') }
  const terms = {
    orderSigner: account('1'),
    sweeper: account('2'),
    depositor: account('3'),
    nonce: word('d'),
  }
  const expected = getContractAddress({
    opcode: 'CREATE2',
    from: contract.contract,
    salt: keccak256(
      encodeAbiParameters(parseAbiParameters('address, address, address, bytes32'), [
        terms.orderSigner,
        terms.sweeper,
        terms.depositor,
        terms.nonce,
      ]),
    ),
    bytecodeHash: contract.sweepCodeHash,
  }).toLowerCase()

  test('is where the contract can make code for its terms', () => {
    expect(depositAddressOf(terms, contract)).toBe(expected)
  })

  test('is made of the parties however they are spelled, and named by its own bytes', () => {
    const addressing = contractAddressing(contract, ethereumCodec)
    const mixed = `0x${'aB'.repeat(20)}`
    const made = addressing.make({ ...terms, fillWallet: terms.sweeper })
    expect(made).toEqual({ address: expected, terms })
    const spelled = addressing.make({ ...terms, fillWallet: terms.sweeper, depositor: mixed })
    expect(spelled.terms.depositor).toBe(mixed.toLowerCase())
    expect(addressing.nameOf(mixed)).toBe(mixed.toLowerCase())
  })

  test('may be emptied by its depositor during a sweep, who is credited with it', () => {
    const { sweepSeconds, leadSeconds, isKeptWhileSwept, creditsDepositor } = contractAddressing(
      contract,
      ethereumCodec,
    )
    expect({ sweepSeconds, leadSeconds, isKeptWhileSwept, creditsDepositor }).toEqual({
      sweepSeconds: 300,
      leadSeconds: 120,
      isKeptWhileSwept: false,
      creditsDepositor: true,
    })
  })
})

describe('the salt of an order at a deposit address', () => {
  const random = Uint8Array.from({ length: 12 }, (_byte, index) => index + 1)

  test('is the address and twelve random bytes', () => {
    expect(depositOrderSalt(account('6'), random)).toBe(`${account('6')}0102030405060708090a0b0c`)
  })

  test.each([0, 11, 13, 32])('has not %d random bytes', (length) => {
    expect(() => depositOrderSalt(account('6'), new Uint8Array(length))).toThrow('12 random bytes')
  })

  test('ends in the hash of the price that a swap must reach', () => {
    const swap = {
      tokenIn: account('1'),
      amountIn: 100n,
      tokenOut: account('2'),
      amountOutMin: 90n,
      nonce: word('e'),
    }
    const hash = keccak256(
      encodeAbiParameters(parseAbiParameters('address, uint256, address, uint256, bytes32'), [
        swap.tokenIn,
        swap.amountIn,
        swap.tokenOut,
        swap.amountOutMin,
        swap.nonce,
      ]),
    )
    expect(depositSwapSalt(account('6'), swap)).toBe(`${account('6')}${hash.slice(-24)}`)
  })
})
