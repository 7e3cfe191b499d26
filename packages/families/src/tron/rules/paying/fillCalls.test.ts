// Goal: the fill wallet's calls on Tron are those of the fill contract, with each payment in its list and the coin that
// they take. The contract's interface is written out with viem. Attacks: coin that is sent for a token.

import { createTronCodec, tronHexAddress } from '@causeway/core/encodings'
import { encodeFunctionData, type Hex, parseAbi, toFunctionSelector } from 'viem'
import { describe, expect, test } from 'vitest'
import { type ContractCall, fillClosing, fillPayment, fillState, tokenAllowance } from './fillCalls.ts'

const abi = parseAbi([
  'function pay(bytes32 id, uint256 deadline, (address to, uint256 amount)[] natives, (address token, address to, uint256 amount)[] tokens) payable',
  'function close(bytes32 id)',
  'function stateOf(address filler, bytes32 id) view returns (uint8)',
  'function approve(address spender, uint256 amount)',
])
const fillContract = 'TXtEs6t2oUWQsNos7m68gbHdE9Q5n6x2oN'
const wallet = 'TCLBgkbfVkJroVBJVqBEsxtPNQEQMTQCLQ'
const usdt = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'
const coin = createTronCodec().nativeCurrency
const id: Hex = `0x${'b1'.repeat(32)}`
const orderId: Hex = `0x${'3a'.repeat(32)}`
const through = { fillContract, id }

const pay = (payments: readonly { recipient: string; currency: string; amount: bigint }[]) =>
  fillPayment(through, { orderId, deadlineSeconds: 1_800_000_000n, payments })

describe('a payment', () => {
  test('lists coins and tokens apart, brings the coins along, and names the order behind its arguments', () => {
    const call = pay([
      { recipient: wallet, currency: coin, amount: 5n },
      { recipient: wallet, currency: usdt, amount: 7n },
      { recipient: fillContract, currency: coin, amount: 11n },
    ])
    const to = tronHexAddress(wallet)
    const data = encodeFunctionData({
      abi,
      functionName: 'pay',
      args: [
        id,
        1_800_000_000n,
        [
          { to, amount: 5n },
          { to: tronHexAddress(fillContract), amount: 11n },
        ],
        [{ token: tronHexAddress(usdt), to, amount: 7n }],
      ],
    })
    expect(call).toMatchObject({ contract: fillContract, data: `${data}${orderId.slice(2)}`, coin: 16n })
  })

  test('of tokens alone brings no coin', () => {
    expect(pay([{ recipient: wallet, currency: usdt, amount: 7n }]).coin).toBe(0n)
  })
})

test('closing, asking for a record, and allowing a token take no coin', () => {
  const [account, spender] = [tronHexAddress(wallet), tronHexAddress(fillContract)]
  expect(fillClosing(through)).toMatchObject({
    contract: fillContract,
    data: encodeFunctionData({ abi, functionName: 'close', args: [id] }),
    coin: 0n,
  })
  expect(fillState(through, wallet)).toMatchObject({
    contract: fillContract,
    data: encodeFunctionData({ abi, functionName: 'stateOf', args: [account, id] }),
    coin: 0n,
  })
  expect(tokenAllowance(usdt, fillContract, 9n)).toMatchObject({
    contract: usdt,
    data: encodeFunctionData({ abi, functionName: 'approve', args: [spender, 9n] }),
    coin: 0n,
  })
})

test.each<[string, () => ContractCall]>([
  ['a payment', () => pay([])],
  ['a closing', () => fillClosing(through)],
  ['a record', () => fillState(through, wallet)],
  ['an allowance', () => tokenAllowance(usdt, fillContract, 1n)],
])('nodes are told the function of %s by the signature that its data begins with', (_what, callOf) => {
  const { data, selector } = callOf()
  expect(data.slice(0, 10)).toBe(toFunctionSelector(selector))
})
