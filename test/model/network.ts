// The three chains of a local network as models, under the addresses and keys of a real one or of their own.
import type { Hex } from '@causeway/core'
import type { LocalAccount, LocalKeys } from '@causeway/localnet'
import { privateKeyToAddress } from 'viem/accounts'
import type { Chain } from './chain/chain.ts'
import { ModelChain } from './chain/modelChain.ts'
import { allocatorModel } from './contracts/allocator.ts'
import type { ContractModel } from './contracts/contractModel.ts'
import { depositoryModel } from './contracts/depository.ts'
import { fillContractModel, multicallModel } from './contracts/fillContract.ts'
import { hubModel, hubOracleModel, multisigModel } from './contracts/hub.ts'
import {
  accountHabits,
  accountModel,
  claimsModel,
  marketModel,
  ownTokenModel,
} from './contracts/strangers.ts'
import { type TokenHabit, tokenModel } from './contracts/token.ts'
import { textHash } from './hash.ts'

export const userChainIds = ['base', 'optimism'] as const
export type UserChainId = (typeof userChainIds)[number]
export type ChainId = UserChainId | 'hub'
export const chainNumbers = { base: 8453, optimism: 10, hub: 537713 } as const
export const tokenNames = {
  USDC: { name: 'USD Coin', version: '2' },
  USDX: { name: 'USD X', version: '1' },
} as const
export type TokenName = keyof typeof tokenNames
/** `coin` is the native currency. */
export type Currency = TokenName | 'coin'
export const coinAddress: Hex = `0x${'0'.repeat(40)}`

/** Habits of tokens beside moving. On nodes every token is plain. */
const habits: Readonly<Record<UserChainId, Readonly<Record<TokenName, TokenHabit>>>> = {
  base: { USDC: 'plain', USDX: 'takes_fee' },
  optimism: { USDC: 'plain', USDX: 'asks_sender' },
}

/** Contracts of anybody. The accounts have code; the last one is a payer that the chain file lists. */
export type Strangers = {
  readonly accounts: readonly [Hex, Hex, Hex]
  readonly claims: Hex
  readonly market: Hex
  readonly ownToken: Hex
}

export type UserChainPlaces = {
  readonly depository: Hex
  readonly fillContract: Hex
  readonly multicall3: Hex
  readonly tokens: Readonly<Record<TokenName, Hex>>
  /** None on real nodes. */
  readonly strangers?: Strangers
}

export type HubPlaces = {
  readonly hub: Hex
  readonly oracle: Hex
  readonly oracleMultisig: Hex
  readonly allocator: Hex
}

/** Addresses of contracts. The deployment of a local network is one. */
export type Places = Readonly<Record<UserChainId, UserChainPlaces>> & { readonly hub: HubPlaces }
export type Network = {
  readonly chains: Readonly<Record<ChainId, Chain>>
  readonly places: Places
  readonly keys: LocalKeys
}

/** Tokens of each party at the start, and native coin. */
export const grantedUnits = 1_000_000_000n
export const grantedWei = 10n ** 21n

export type ModelStart = Pick<Network, 'places' | 'keys'> & {
  readonly seconds?: bigint
  /** Native coin beside that of the parties. */
  readonly wei?: ReadonlyMap<Hex, bigint>
  /** USDC beside that of the parties. */
  readonly units?: ReadonlyMap<Hex, bigint>
}
type Start = Omit<ModelStart, 'places' | 'keys'>
const firstSeconds = 1_900_000_000n

/** @param rules.oneRequestPerNonce see `allocatorModel` */
export function modelNetwork(
  rules: { readonly oneRequestPerNonce: boolean } = { oneRequestPerNonce: true },
  { places, keys, ...start }: ModelStart = { places: ownPlaces, keys: ownKeys },
): Network {
  return {
    places,
    keys,
    chains: {
      base: userChain('base', places.base, keys, start),
      optimism: userChain('optimism', places.optimism, keys, start),
      hub: hubChain(places, keys, start, rules),
    },
  }
}

/** Everybody who sends transactions. */
function partiesOf({ deployer, fillWallet, sponsor, custody, allocator, users }: LocalKeys) {
  return [deployer, fillWallet, sponsor, custody, allocator, ...users]
}

function userChain(id: UserChainId, places: UserChainPlaces, keys: LocalKeys, start: Start): Chain {
  const { depository, fillContract, multicall3, tokens, strangers } = places
  return new ModelChain({
    id,
    chainId: chainNumbers[id],
    startSeconds: start.seconds ?? firstSeconds,
    contracts: new Map([
      [depository, depositoryModel],
      [fillContract, fillContractModel],
      [multicall3, multicallModel],
      [tokens.USDC, tokenModel(tokenNames.USDC, habits[id].USDC)],
      [tokens.USDX, tokenModel(tokenNames.USDX, habits[id].USDX)],
      ...(strangers === undefined ? [] : strangerModels(strangers, keys)),
    ]),
    deploy(stateOf, fund) {
      stateOf(depository).set('allocator', keys.allocator.address)
      for (const token of Object.values(tokens)) stateOf(token).set('owner', keys.deployer.address)
      const accounts = [...partiesOf(keys).map(({ address }) => address), ...(strangers?.accounts ?? [])]
      for (const address of accounts) {
        fund(address, grantedWei)
        for (const token of Object.values(tokens)) stateOf(token).set(`balance ${address}`, grantedUnits)
      }
      for (const [index, habit] of (['passes_on', 'refuses', 'keeps'] as const).entries()) {
        const account = strangers?.accounts[index]
        if (account !== undefined) stateOf(account).set('habit', BigInt(accountHabits.indexOf(habit)))
      }
      for (const [account, wei] of start.wei ?? []) fund(account, wei)
      for (const [account, units] of start.units ?? []) stateOf(tokens.USDC).set(`balance ${account}`, units)
    },
  })
}

function strangerModels(
  { accounts, claims, market, ownToken }: Strangers,
  { custody }: LocalKeys,
): readonly (readonly [Hex, ContractModel])[] {
  return [
    ...accounts.map((account) => [account, accountModel(custody.address, market)] as const),
    [claims, claimsModel(market)],
    [market, marketModel(claims)],
    [ownToken, ownTokenModel],
  ]
}

function hubChain(
  places: Places,
  keys: LocalKeys,
  start: Start,
  rules: { readonly oneRequestPerNonce: boolean },
): Chain {
  const { hub, oracle, oracleMultisig, allocator } = places.hub
  return new ModelChain({
    id: 'hub',
    chainId: chainNumbers.hub,
    startSeconds: start.seconds ?? firstSeconds,
    contracts: new Map([
      [hub, hubModel],
      [oracle, hubOracleModel],
      [oracleMultisig, multisigModel],
      [allocator, allocatorModel(rules)],
    ]),
    deploy(stateOf) {
      stateOf(hub).set('operator', oracle)
      stateOf(oracle).set('hub', hub)
      stateOf(oracle).set('oracle', oracleMultisig)
      stateOf(oracleMultisig).set('threshold', 2n)
      for (const { address } of keys.oracles) stateOf(oracleMultisig).set(`signer ${address}`, 1n)
      stateOf(allocator).set('oracle', oracleMultisig)
      stateOf(allocator).set('signer', keys.allocator.address)
      for (const id of userChainIds) {
        stateOf(allocator).set(`builder ${chainNumbers[id]} ${places[id].depository}`, 1n)
      }
    },
  })
}

export function accountNamed(name: string): LocalAccount {
  const privateKey = textHash(`a party of the model: ${name}`)
  const address = privateKeyToAddress(privateKey).toLowerCase()
  return { address: `0x${address.slice(2)}`, privateKey }
}

const place = (digits: string): Hex => `0x${digits.padStart(40, 'c0')}`

const ownChainPlaces: UserChainPlaces = {
  depository: place('01'),
  fillContract: place('02'),
  multicall3: place('03'),
  tokens: { USDC: place('04'), USDX: place('05') },
  strangers: {
    accounts: [place('21'), place('22'), place('23')],
    claims: place('31'),
    market: place('32'),
    ownToken: place('33'),
  },
}
const ownPlaces: Places = {
  base: ownChainPlaces,
  optimism: ownChainPlaces,
  hub: { hub: place('11'), oracle: place('12'), oracleMultisig: place('13'), allocator: place('14') },
}
const ownKeys: LocalKeys = {
  deployer: accountNamed('deployer'),
  orderSigner: accountNamed('order signer'),
  custody: accountNamed('custody'),
  fillWallet: accountNamed('fill wallet'),
  keeper: accountNamed('keeper'),
  sponsor: accountNamed('sponsor'),
  oracles: [accountNamed('oracle 0'), accountNamed('oracle 1'), accountNamed('oracle 2')],
  allocator: accountNamed('allocator'),
  users: Array.from({ length: 6 }, (_, index) => accountNamed(`user ${index}`)),
}
