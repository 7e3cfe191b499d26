// Goal: what readers and clients of the public protocol know by number is what our contracts have.
// Every literal but that of `setEntryFor`, which is ours, is of a public contract.
// @source github.com/relayprotocol/relay-depository, relay-settlement and relay-periphery

import { tronAddress } from '@causeway/core/encodings'
import { fillClosing, fillPayment, fillState } from '@causeway/families/rules'
import {
  type Abi,
  type AbiEvent,
  type AbiFunction,
  encodeFunctionData,
  toEventSelector,
  toFunctionSelector,
} from 'viem'
import { describe, expect, test } from 'vitest'
import * as abis from './abis.generated.ts'
import { encodeFill } from './encodeFill.ts'

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
    ['depository', abis.depositoryAbi, 'depositNative', ['0x49290c1c']],
    ['depository', abis.depositoryAbi, 'depositErc20', ['0x5a1ee3ac', '0xe8017952']],
    ['depository', abis.depositoryAbi, 'callRequests', ['0xd52bfcc8']],
    ['cleanup router', abis.cleanupRouterAbi, 'cleanupErc20s', ['0x3b2253c8', '0x9bb43718']],
    ['cleanup router', abis.cleanupRouterAbi, 'cleanupErc20sViaCall', ['0x73b7bb2f']],
    ['cleanup router', abis.cleanupRouterAbi, 'cleanupNative', ['0x5de81e3f', '0xa6bd8c96']],
    ['cleanup router', abis.cleanupRouterAbi, 'cleanupNativeViaCall', ['0x5d1fe6a2']],
    ['hub', abis.hubAbi, 'balanceOf', ['0x00fdd58e']],
    ['oracle contract', abis.hubOracleAbi, 'execute', ['0x32acd8f9']],
    ['oracle contract', abis.hubOracleAbi, 'executeMultiple', ['0x564df171']],
    ['oracle contract', abis.hubOracleAbi, 'isExecuted', ['0xe52cb36a']],
    ['oracle contract', abis.hubOracleAbi, 'HUB', ['0xa4c52b86']],
    ['multisig', abis.oracleMultisigAbi, 'isValidSignature', ['0x1626ba7e']],
    ['generic mapping', abis.genericMappingAbi, 'getEntry', ['0xcad2ab23']],
    ['generic mapping', abis.genericMappingAbi, 'setEntryFor', ['0x53d61876']],
  ])('%s has %s%s', (_contract, abi, name, expected) => {
    expect(selectors(abi, name)).toEqual(expected)
  })
})

describe('events', () => {
  test.each([
    [
      'RelayNativeDeposit',
      abis.depositoryAbi,
      '0x8032066556caf3967d8fec4ad22a2d9e1e9576556b2903a0fcd5b1fd201e3477',
    ],
    [
      'RelayErc20Deposit',
      abis.depositoryAbi,
      '0x49fed1d0b752ce30eee63c7a81133f3363b532fec5d4d7dd1ccfd005de4555e1',
    ],
    [
      'RelayCallExecuted',
      abis.depositoryAbi,
      '0x4be109453ef7e895dc7215c929fff9b76b51483d56a4d04548b4866e9aa7c5ea',
    ],
    [
      'SolverNativeTransfer',
      abis.fillContractAbi,
      '0xd35467972d1fda5b63c735f59d3974fa51785a41a92aa3ed1b70832836f8dba6',
    ],
    [
      'SolverCallExecuted',
      abis.fillContractAbi,
      '0x93485dcd31a905e3ffd7b012abe3438fa8fa77f98ddc9f50e879d3fa7ccdc324',
    ],
    [
      'FundsMovement',
      abis.cleanupRouterAbi,
      '0xafbab204e8271965231d37baed9b1abca8725b7409c70314455f68bc89142b91',
    ],
  ])('%s carries everything in its data, under the public topic', (name, abi, topic) => {
    const found = event(abi, name)
    expect(toEventSelector(found)).toBe(topic)
    expect(found.inputs.filter(({ indexed }) => indexed)).toEqual([])
  })

  test('an execution on the hub is found by its key', () => {
    const found = event(abis.hubOracleAbi, 'Executed')
    expect(found.inputs.map(({ type, indexed }) => [type, indexed ?? false])).toEqual([
      ['bytes32', true],
      ['bytes[]', false],
    ])
  })
})

describe('calls of the fill contract that another family writes', () => {
  const [id, orderId] = [`0x${'1d'.repeat(32)}`, `0x${'0d'.repeat(32)}`] as const
  const [contract, to, token] = [
    `0x${'f1'.repeat(20)}`,
    `0x${'a1'.repeat(20)}`,
    `0x${'70'.repeat(20)}`,
  ] as const
  const through = { fillContract: tronAddress(contract), id }
  const abi = abis.fillContractAbi

  test('are those of its interface', () => {
    const payments = [
      { recipient: tronAddress(to), currency: tronAddress(token), amount: 7n },
      { recipient: tronAddress(to), currency: 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb', amount: 5n },
    ]
    const paid = fillPayment(through, { orderId, deadlineSeconds: 9n, payments })
    expect(paid).toMatchObject({ contract: through.fillContract, coin: 5n })
    expect(paid.data).toBe(
      encodeFill({
        id,
        orderId,
        deadlineSeconds: 9n,
        natives: [{ to, amount: 5n }],
        tokens: [{ token, to, amount: 7n }],
      }),
    )
    expect(fillClosing(through).data).toBe(encodeFunctionData({ abi, functionName: 'close', args: [id] }))
    expect(fillState(through, tronAddress(to)).data).toBe(
      encodeFunctionData({ abi, functionName: 'stateOf', args: [to, id] }),
    )
  })

  test('name themselves as nodes are asked to run them', () => {
    const calls = [
      fillPayment(through, { orderId, deadlineSeconds: 9n, payments: [] }),
      fillClosing(through),
      fillState(through, tronAddress(to)),
    ]
    for (const { selector, data } of calls)
      expect(toFunctionSelector(`function ${selector}`)).toBe(data.slice(0, 10))
  })
})
