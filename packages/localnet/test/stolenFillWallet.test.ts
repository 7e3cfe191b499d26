// Goal: who has the solver's fill wallet has what it holds, and nothing of the depository, of users, of the hub or
// of the allocator. Method: the thief asks every contract for the money of others, as deployed, on real nodes.
import {
  allocatorAbi,
  depositAddressesAbi,
  depositoryAbi,
  genericMappingAbi,
  hubAbi,
  hubOracleAbi,
  oracleMultisigAbi,
} from '@causeway/contracts'
import type { Hex } from '@causeway/core'
import { encodeFunctionData, erc20Abi, pad, zeroAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tokenAbi } from '../src/contracts/abis.generated.ts'
import type { ChainDeployment, HubDeployment } from '../src/contracts/deployment.ts'
import { randomWord, testCalls, testFill } from '../src/contracts/testFill.ts'
import { executeCallData } from '../src/deploy/callRequest.ts'
import type { LocalAccount } from '../src/keys/localKeys.ts'
import {
  type ContractBench,
  freshAccount,
  startHubBench,
  startUserChainBench,
} from './support/contractBench.ts'

let chain: ContractBench<ChainDeployment>
let hub: ContractBench<HubDeployment>
let wallet: LocalAccount
let user: LocalAccount
const held = 700_000n
const loot: Hex = freshAccount().address

beforeAll(async () => {
  chain = await startUserChainBench()
  hub = await startHubBench(chain.keys)
  wallet = chain.keys.fillWallet
  user = chain.keys.users[0] ?? freshAccount()
  const { depository } = chain.deployment
  // The user has a balance, an allowance to the depository, and a deposit there.
  await chain.send(user, usdc(), approve(depository, 2n * held))
  await chain.send(user, depository, deposit(held))
  await chain.send(user, depository, depositNative(), held)
})
afterAll(() => Promise.all([chain?.stop(), hub?.stop()]))

const usdc = () => chain.deployment.tokens.USDC
const erc20 = (functionName: 'approve' | 'transfer', account: Hex, amount: bigint) =>
  encodeFunctionData({ abi: erc20Abi, functionName, args: [account, amount] })
const approve = (spender: Hex, amount: bigint) => erc20('approve', spender, amount)
const pull = (from: Hex) =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'transferFrom', args: [from, loot, held] })
const deposit = (amount: bigint) =>
  encodeFunctionData({
    abi: depositoryAbi,
    functionName: 'depositErc20',
    args: [zeroAddress, usdc(), amount, randomWord()],
  })
const depositNative = () =>
  encodeFunctionData({
    abi: depositoryAbi,
    functionName: 'depositNative',
    args: [zeroAddress, randomWord()],
  })
const balance = (holder: Hex) =>
  chain.chain.client.readContract({
    address: usdc(),
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [holder],
  })

/** A withdrawal to the thief, signed with the stolen key. */
function withdrawal(call: { readonly to: Hex; readonly data: Hex; readonly value: bigint }): Promise<Hex> {
  const request = { calls: [{ ...call, allowFailure: false }], nonce: 1n, expiration: 4_000_000_000n }
  const { depository } = chain.deployment
  const { chainId } = chain.chain
  const allocator = privateKeyToAccount(wallet.privateKey)
  return executeCallData({ chainId, depository, allocator, request })
}

/** A fill whose calls are the theft, run by the clone of an order that he makes up. */
function fillOf(to: Hex, data: Hex): Hex {
  const { fillContract } = chain.deployment
  const place = { fillContract, filler: wallet.address, recipient: loot }
  const { orderCalls } = testCalls([{ to, data, value: 0n }], place)
  return testFill({ orderId: randomWord(), orderCalls })
}

type Theft = readonly [what: string, to: () => Hex, data: () => Hex | Promise<Hex>, refusal: string]

describe('who has the fill wallet', () => {
  const thefts: readonly Theft[] = [
    [
      'native coin of the depository',
      () => chain.deployment.depository,
      () => withdrawal({ to: loot, data: '0x', value: held }),
      'InvalidSignature',
    ],
    [
      'tokens of the depository',
      () => chain.deployment.depository,
      () => withdrawal({ to: usdc(), data: erc20('transfer', loot, held), value: 0n }),
      'InvalidSignature',
    ],
    [
      'say over the depository',
      () => chain.deployment.depository,
      () => encodeFunctionData({ abi: depositoryAbi, functionName: 'setAllocator', args: [wallet.address] }),
      'NotOwner',
    ],
    ['tokens of a user', usdc, () => pull(user.address), 'InsufficientAllowance'],
    [
      'allowance that a user gave the depository, by a call of a fill',
      () => chain.deployment.fillContract,
      () => fillOf(usdc(), pull(user.address)),
      'CallFailed',
    ],
    [
      'tokens of the depository, by a call of a fill',
      () => chain.deployment.fillContract,
      () => fillOf(usdc(), pull(chain.deployment.depository)),
      'CallFailed',
    ],
    [
      'new tokens',
      usdc,
      () => encodeFunctionData({ abi: tokenAbi, functionName: 'mint', args: [[{ to: loot, amount: held }]] }),
      'NotOwner',
    ],
    [
      'deposit address of somebody else',
      () => chain.deployment.depositAddresses.contract,
      () =>
        encodeFunctionData({
          abi: depositAddressesAbi,
          functionName: 'withdraw',
          args: [
            {
              depositor: user.address,
              sweeper: user.address,
              orderSigner: wallet.address,
              nonce: randomWord(),
            },
            usdc(),
          ],
        }),
      'NotDepositor',
    ],
  ]

  test.each(thefts)('gets no %s', async (_what, to, data, refusal) => {
    expect(await chain.revert(wallet, to(), await data())).toBe(refusal)
  })

  const onHub: readonly Theft[] = [
    [
      'balance of the hub',
      () => hub.deployment.hub,
      () => encodeFunctionData({ abi: hubAbi, functionName: 'mint', args: [wallet.address, 1n, held] }),
      'NotOperator',
    ],
    [
      'balance of another account of the hub',
      () => hub.deployment.hub,
      () =>
        encodeFunctionData({
          abi: hubAbi,
          functionName: 'transferFrom',
          args: [user.address, wallet.address, 1n, held],
        }),
      'NotOperator',
    ],
    [
      'execution by an oracle contract that it names itself',
      () => hub.deployment.oracle,
      () =>
        encodeFunctionData({
          abi: hubOracleAbi,
          functionName: 'execute',
          args: [{ idempotencyKey: randomWord(), actions: [] }, wallet.address, pad('0x', { size: 65 })],
        }),
      'UnauthorizedOracle',
    ],
    [
      'seat among the oracles',
      () => hub.deployment.oracleMultisig,
      () =>
        encodeFunctionData({
          abi: oracleMultisigAbi,
          functionName: 'setSigners',
          args: [[wallet.address], 1n],
        }),
      'NotOwner',
    ],
    [
      'entry that others believe',
      () => hub.deployment.genericMapping,
      () =>
        encodeFunctionData({
          abi: genericMappingAbi,
          functionName: 'setEntryFor',
          args: [user.address, randomWord(), '0x'],
        }),
      'NotOperator',
    ],
    [
      'signature stored as the allocator’s',
      () => hub.deployment.allocator,
      () =>
        encodeFunctionData({
          abi: allocatorAbi,
          functionName: 'storeSignature',
          args: [randomWord(), randomWord(), pad('0x', { size: 65 })],
        }),
      'NotSigner',
    ],
    [
      'payload that no oracle signed for',
      () => hub.deployment.allocator,
      () =>
        encodeFunctionData({
          abi: allocatorAbi,
          functionName: 'submitWithdrawRequest',
          args: [
            {
              chainId: BigInt(chain.chain.chainId),
              depository: chain.deployment.depository,
              currency: usdc(),
              amount: held,
              spender: wallet.address,
              receiver: loot,
              data: '0x',
              nonce: randomWord(),
            },
            pad('0x', { size: 65 }),
          ],
        }),
      'InvalidSignature',
    ],
  ]

  test.each(onHub)('gets no %s', async (_what, to, data, refusal) => {
    expect(await hub.revert(wallet, to(), await data())).toBe(refusal)
  })

  test('gets what the wallet holds, and the deposits lie where they lay', async () => {
    const own = await balance(wallet.address)
    const before = await balance(chain.deployment.depository)
    expect(own).toBeGreaterThan(0n)
    await chain.send(wallet, usdc(), erc20('transfer', loot, own))
    expect([await balance(loot), await balance(wallet.address)]).toEqual([own, 0n])
    expect(await balance(chain.deployment.depository)).toBe(before)
  })
})
