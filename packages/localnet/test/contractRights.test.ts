// Goal: no function that changes something is anybody's by accident. Method: every such function of every deployed
// contract has a row here, or this file does not compile; what belongs to one account is asked for by all others, on
// a real node. Who a signature or the sender's own money entitles: hub, depository, permit and hostileTokens tests.
import {
  allocatorAbi,
  bitcoinPayloadBuilderAbi,
  cleanupRouterAbi,
  depositAddressesAbi,
  depositoryAbi,
  depositRouterAbi,
  evmPayloadBuilderAbi,
  fillContractAbi,
  genericMappingAbi,
  hubAbi,
  hubOracleAbi,
  hyperliquidPayloadBuilderAbi,
  lighterPayloadBuilderAbi,
  oracleMultisigAbi,
  permit2RouterAbi,
  permitRouterAbi,
  solanaPayloadBuilderAbi,
} from '@causeway/contracts'
import type { Hex } from '@causeway/core'
import {
  type Abi,
  type AbiParameter,
  type ContractFunctionName,
  encodeAbiParameters,
  toFunctionSelector,
  zeroAddress,
} from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChainDeployment, HubDeployment } from '../src/contracts/deployment.ts'
import type { LocalAccount } from '../src/keys/localKeys.ts'
import {
  type ContractBench,
  freshAccount,
  startHubBench,
  startUserChainBench,
} from './support/contractBench.ts'

/** Whom a function serves: one account, or whoever brings what it asks for. */
type Right =
  /** The account that deployed it, once, as long as it has no owner. */
  | 'the initializer'
  | 'the owner'
  | 'an operator'
  | 'the signer'
  | 'the sweeper'
  | 'the depositor'
  /** Whoever brings the signature of the one whose money or word it is. */
  | 'a signature'
  /** Moves what the sender brought, or allowed to be taken from himself, or what lies open for everybody. */
  | 'the sender'

type Changing<A extends Abi> = ContractFunctionName<A, 'nonpayable' | 'payable'>
type Rights<A extends Abi> = { readonly [Name in Changing<A>]: Right }
type Decided = { readonly abi: Abi; readonly rights: Readonly<Record<string, Right>> }
const decide = <const A extends Abi>(abi: A, rights: Rights<A>): Decided => ({ abi, rights })

const roles = { initialize: 'the initializer', grantRole: 'the owner', revokeRole: 'the owner' } as const

const onChains = {
  depository: decide(depositoryAbi, {
    initialize: 'the initializer',
    setAllocator: 'the owner',
    execute: 'a signature',
    depositNative: 'the sender',
    depositErc20: 'the sender',
  }),
  fillContract: decide(fillContractAbi, { pay: 'the sender', fill: 'the sender', close: 'the sender' }),
  cleanupRouter: decide(cleanupRouterAbi, {
    cleanupErc20s: 'the sender',
    cleanupErc20sViaCall: 'the sender',
    cleanupNative: 'the sender',
    cleanupNativeViaCall: 'the sender',
  }),
  depositRouter: decide(depositRouterAbi, { swapAndDeposit: 'the sender', swapAndPay: 'the sender' }),
  depositAddresses: decide(depositAddressesAbi, {
    sweep: 'the sweeper',
    sweepAndSwap: 'the sweeper',
    withdraw: 'the depositor',
  }),
  permitRouter: decide(permitRouterAbi, {
    depositWithAuthorization: 'a signature',
    depositWithPermit: 'a signature',
  }),
  permit2Router: decide(permit2RouterAbi, { permit2TransferAndMulticall: 'a signature' }),
} as const satisfies Partial<Record<keyof ChainDeployment, Decided>>

const onHub = {
  hub: decide(hubAbi, {
    ...roles,
    mint: 'an operator',
    burn: 'an operator',
    transferFrom: 'an operator',
  }),
  oracle: decide(hubOracleAbi, { ...roles, execute: 'a signature', executeMultiple: 'a signature' }),
  oracleMultisig: decide(oracleMultisigAbi, { initialize: 'the initializer', setSigners: 'the owner' }),
  genericMapping: decide(genericMappingAbi, { ...roles, setEntry: 'the sender', setEntryFor: 'an operator' }),
  allocator: decide(allocatorAbi, {
    initialize: 'the initializer',
    setBuilder: 'the owner',
    storeSignature: 'the signer',
    submitWithdrawRequest: 'a signature',
  }),
  evmPayloadBuilder: decide(evmPayloadBuilderAbi, {}),
  solanaPayloadBuilder: decide(solanaPayloadBuilderAbi, {}),
  bitcoinPayloadBuilder: decide(bitcoinPayloadBuilderAbi, {}),
  hyperliquidPayloadBuilder: decide(hyperliquidPayloadBuilderAbi, {}),
  lighterPayloadBuilder: decide(lighterPayloadBuilderAbi, {}),
} as const satisfies Partial<Record<keyof HubDeployment, Decided>>

/** Error for every other sender. All contracts are initialized, so the initializer is too late as well. */
const refusals: Partial<Record<Right, string>> = {
  'the initializer': 'AlreadyInitialized',
  'the owner': 'NotOwner',
  'an operator': 'NotOperator',
  'the signer': 'NotSigner',
  'the sweeper': 'NotSweeper',
  'the depositor': 'NotDepositor',
}

/** A value of a parameter: nothing, in its type. */
function nothingOf({ type, ...parameter }: AbiParameter): unknown {
  if (type.endsWith('[]')) return []
  if (type.startsWith('tuple'))
    return 'components' in parameter
      ? Object.fromEntries(parameter.components.map((member) => [member.name, nothingOf(member)]))
      : {}
  if (type === 'address') return zeroAddress
  if (type === 'bool') return false
  if (type === 'string') return ''
  if (type === 'bytes') return '0x'
  const [, size] = /^bytes(\d+)$/.exec(type) ?? []
  return size === undefined ? 0n : `0x${'00'.repeat(Number(size))}`
}

/** A call that asks for nothing in particular. */
function callOf(abi: Abi, name: string): Hex {
  const found = abi.find((item) => item.type === 'function' && item.name === name)
  if (found?.type !== 'function') throw new Error(`no function ${name}`)
  const words = encodeAbiParameters(found.inputs, found.inputs.map(nothingOf))
  return `${toFunctionSelector(found)}${words.slice(2)}`
}

type Case = { readonly contract: string; readonly name: string; readonly right: Right; readonly abi: Abi }
const casesOf = (contracts: Readonly<Record<string, Decided>>): readonly Case[] =>
  Object.entries(contracts).flatMap(([contract, { abi, rights }]) =>
    Object.entries(rights)
      .filter(([, right]) => refusals[right] !== undefined)
      .map(([name, right]) => ({ contract, name, right, abi })),
  )

let chain: ContractBench<ChainDeployment>
let hub: ContractBench<HubDeployment>
beforeAll(async () => {
  ;[chain, hub] = await Promise.all([startUserChainBench(), startHubBench()])
})
afterAll(async () => {
  await chain?.stop()
  await hub?.stop()
})

/** Whoever holds a key of this deployment, and a stranger. */
function accountsOf({ keys }: Pick<ContractBench<unknown>, 'keys'>): ReadonlyMap<string, LocalAccount> {
  const [user = freshAccount()] = keys.users
  const [oracle = freshAccount()] = keys.oracles
  return new Map([
    ...([
      ['a stranger', freshAccount()],
      ['a user', user],
      ['an oracle', oracle],
    ] as const),
    ...([
      ['the deployer', keys.deployer],
      ['the fill wallet', keys.fillWallet],
    ] as const),
    ['the allocator', keys.allocator],
  ])
}

/** The deployer owns what the local network deploys, and writes the mapping's entries; the ledger's operator has no key. */
const entitled = ({ contract, right }: Case): string | undefined => {
  if (right === 'the signer') return 'the allocator'
  if (right === 'the owner' || (right === 'an operator' && contract === 'genericMapping'))
    return 'the deployer'
  return undefined
}

async function refusedTo(bench: ContractBench<unknown>, to: Hex, one: Case): Promise<void> {
  const told = new Map<string, string>()
  for (const [who, account] of accountsOf(bench))
    if (who !== entitled(one)) told.set(who, await bench.revert(account, to, callOf(one.abi, one.name)))
  expect(told.size).toBeGreaterThan(4)
  expect(new Set(told.values())).toEqual(new Set([refusals[one.right]]))
}

describe('is refused to everybody else', () => {
  test.each(casesOf(onChains))('$contract.$name, which is for $right', async (one) => {
    const { depository, depositAddresses } = chain.deployment
    await refusedTo(chain, one.contract === 'depository' ? depository : depositAddresses.contract, one)
  })

  test.each(casesOf(onHub))('$contract.$name, which is for $right', async (one) => {
    const addresses: Readonly<Record<string, unknown>> = hub.deployment
    // CAST: a deployment holds an address by the name of each contract.
    await refusedTo(hub, addresses[one.contract] as Hex, one)
  })
})
