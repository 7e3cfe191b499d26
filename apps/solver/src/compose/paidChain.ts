import {
  type ChainCheck,
  contractPayingFamily,
  isReadable,
  linePayingFamily,
  openFamilyChain,
  payingFamily,
  verifyChain,
} from '@causeway/chains'
import { isKnownCode, recordsPayments } from '@causeway/contracts/codes'
import { ConfigurationError, type Hex, type Secret, type Signer } from '@causeway/core'
import {
  type ContractChain,
  isContractChain,
  type QuoteChain,
  type SolverChainPolicy,
} from '@causeway/core/config'
import { codecOf, type VmCodec } from '@causeway/core/encodings'
import type {
  ContractPayingChain,
  FamilyChain,
  KnownCode,
  LinePayingChain,
  PayingChain,
  RegisteredChain,
} from '@causeway/families'
import { createPayeeRule, type PayeeRule, quotingFamilies } from '@causeway/families/rules'
import { type ChainClient, createJsonRpcClient } from '@causeway/rpc'
import type { LoadedFiles } from './files.ts'
import type { Hub } from './hub.ts'

/** A chain that the solver pays on, as its files describe it, with its family's access for paying. `openDesk` makes a desk of it. */
export type PaidChain = ContractPaidChain | MarkedPaidChain | LinePaidChain

type PaidChainParts = {
  readonly key: string
  readonly chainId: number
  readonly codec: VmCodec
  readonly payees: PayeeRule
  readonly policy: SolverChainPolicy
}

/** Paid on through a fill contract. */
export type ContractPaidChain = PaidChainParts & {
  readonly kind: 'contract'
  readonly config: ContractChain & { readonly fillContract: Hex }
  readonly paying: ContractPayingChain
}

/** Paid on by transactions that mark what they pay. */
export type MarkedPaidChain = PaidChainParts & {
  readonly kind: 'marked'
  readonly paying: PayingChain
  /** Contract that pays, in families that have one. */
  readonly fillContract: Hex | undefined
  /** Program that empties deposit addresses, in families of programs. */
  readonly addressProgram: string | undefined
  /** Seconds within which a signed transaction lands or never does. */
  readonly landsWithinSeconds: number
}

/** Paid on by one line of transactions. */
export type LinePaidChain = PaidChainParts & {
  readonly kind: 'line'
  readonly paying: LinePayingChain
  readonly landsWithinSeconds: number
}

/** Keys of the fill wallet for families with keys of their own, by the name of the variable that holds one. */
export type FillKeys = ReadonlyMap<string, Secret>

/** The solver's own access to chains: its keys, and the hub. */
export type ChainAccess = {
  /** Signs as the fill wallet on EVM chains. */
  readonly signer: Signer
  /** Keys of the fill wallet on chains whose families have keys of their own. */
  readonly keys: FillKeys
  readonly hub: Hub | undefined
}

/** Everything opened so far. */
export type Opened = {
  /** Closed together: at the end, or if a later step fails. */
  readonly closable: { close(): Promise<void> }[]
  /** By chain key: compares the chain with the configuration. */
  readonly checks: Map<string, ChainCheck>
}

/**
 * Opens a chain of the solver file, and adds to `opened` what is to be closed and checked, also before it
 * throws. The kind is `contract` if the quote file's chain has gas and contracts (`isContractChain`), `line`
 * if the family pays in lines, else `marked`.
 * @throws ConfigurationError
 */
export function openPaidChain(
  { chains, quote, solver }: LoadedFiles,
  { signer, keys, hub }: ChainAccess,
  listed: {
    readonly key: string
    readonly policy: SolverChainPolicy
    readonly client: ChainClient | undefined
    readonly opened: Opened
  },
): PaidChain {
  const { key, policy, client, opened } = listed
  const chain = chains.chains.get(key)
  const config = quote.chains[key]
  if (chain === undefined || config === undefined || client === undefined) throw cannotBePaidOn(key)
  const family = openFamily(chain, hub)
  opened.closable.push(family)
  opened.checks.set(key, (signal) => verifyChain(family, chains.environment, signal))
  const codec = codecOf(chain)
  const quoting = quotingFamilies[chain.vmType]
  if (quoting === undefined) throw cannotBePaidOn(key)
  const payees = createPayeeRule({ codec, family: quoting, listed: chain, config, file: quote })
  const parts = { key, chainId: config.chainId, codec, payees, policy }
  const submit = openSubmit(key, policy)
  if (submit !== undefined) opened.closable.push(submit)
  if (isContractChain(config))
    return openContractChain(parts, { chain, config, client, submit, family, signer })
  const settings = { chain, config, keys, sharing: solver.sharing }
  if (linePayingFamily(chain) === undefined) return openMarkedChain(parts, { ...settings, client, hub })
  const line = openLineChain(parts, settings)
  opened.closable.push(line.paying)
  return line
}

/** Client of the endpoint that only gets transactions; undefined where none is set. Opens no connection. */
export function openSubmit(
  chainId: string,
  { submitRpcUrl: url }: SolverChainPolicy,
): ChainClient | undefined {
  return url && createJsonRpcClient({ chainId, endpoints: [{ url }], threshold: 1 })
}

const cannotBePaidOn = (key: string) => new ConfigurationError(`solver: chains.${key} cannot be paid on`)

function openContractChain(
  parts: PaidChainParts,
  opened: {
    readonly chain: RegisteredChain
    readonly config: ContractChain
    readonly client: ChainClient
    readonly submit: ChainClient | undefined
    readonly family: FamilyChain
    readonly signer: Signer
  },
): ContractPaidChain {
  const { chain, config, client, submit, family, signer } = opened
  const payingFamily = contractPayingFamily(chain)
  if (payingFamily === undefined) throw cannotBePaidOn(parts.key)
  const { finalBlocks } = family.reader
  if (finalBlocks === undefined)
    throw new ConfigurationError(`solver: chains.${parts.key} has no final blocks`)
  const { fillContract } = config
  if (fillContract === undefined)
    throw new ConfigurationError(`solver: chains.${parts.key} has no fillContract`)
  // CAST: a canonical address of chains with contracts is lower-case hex.
  const listedFillContracts = (chain.fillContracts ?? []).map(
    (one) => parts.codec.canonicalAddress(one) as Hex,
  )
  const paying = payingFamily.open({
    chainId: config.chainId,
    client,
    submit,
    finalBlocks,
    signer,
    fillContract,
    listedFillContracts,
    recordsPayments,
    nowMs: () => Date.now(),
  })
  return { ...parts, kind: 'contract', config: { ...config, fillContract }, paying }
}

function openMarkedChain(
  parts: PaidChainParts,
  opened: {
    readonly chain: RegisteredChain
    readonly config: QuoteChain
    readonly client: ChainClient
    readonly keys: FillKeys
    readonly sharing: LoadedFiles['solver']['sharing']
    readonly hub: Hub | undefined
  },
): MarkedPaidChain {
  const { chain, config, client, keys, sharing, hub } = opened
  const family = payingFamily(chain)
  if (family === undefined) throw cannotBePaidOn(parts.key)
  const { keySetting: setting, apiKeySetting, landsWithinSeconds } = family
  const key = requireKey(parts, keys, setting)
  refuseSharing(parts, sharing)
  const { fillContract, depositAddressProgram } = config
  const { apiKeyIndex, firstNonce } = parts.policy
  const apiKey = apiKeySetting === undefined ? undefined : keys.get(apiKeySetting)
  // Only families whose accounts are not keys themselves, but sign by an API key, read these members.
  const account = { name: config.fillWallet, apiKey, apiKeyIndex, firstNonce }
  const mappings = hub?.mappingsOf(chain)
  const { canonicalAddress } = parts.codec
  const depository = chain.depository === undefined ? undefined : canonicalAddress(chain.depository)
  const additional = (chain.additionalDepositories ?? []).map(canonicalAddress)
  const addressProgram =
    depositAddressProgram === undefined || depository === undefined
      ? undefined
      : { program: canonicalAddress(depositAddressProgram), depository }
  const paying = family.open({
    client,
    network: chain.network,
    key,
    fillContract,
    addressProgram,
    account,
    mappings,
    depositories: depository === undefined ? additional : [depository, ...additional],
  })
  refuseOtherKey(parts, config, 'fillWallet', { what: `account of ${setting}`, value: paying.address })
  return {
    ...parts,
    kind: 'marked',
    paying,
    fillContract,
    landsWithinSeconds,
    addressProgram: addressProgram?.program,
  }
}

function openLineChain(
  parts: PaidChainParts,
  opened: {
    readonly chain: RegisteredChain
    readonly config: QuoteChain
    readonly keys: FillKeys
    readonly sharing: LoadedFiles['solver']['sharing']
  },
): LinePaidChain {
  const { chain, config, keys, sharing } = opened
  const family = linePayingFamily(chain)
  if (family === undefined) throw cannotBePaidOn(parts.key)
  const { keySetting: setting } = family
  const key = requireKey(parts, keys, setting)
  const { firstOutput } = parts.policy
  if (firstOutput === undefined)
    throw new ConfigurationError(
      `solver: chains.${parts.key} has no firstOutput, which its payments begin with`,
    )
  refuseSharing(parts, sharing)
  const paying = family.open({ chain, key, firstOutput, nowMs: () => Date.now() })
  refuseOtherKey(parts, config, 'fillWallet', { what: `account of ${setting}`, value: paying.address })
  const publicKey = { what: `public key of ${setting}`, value: paying.publicKey }
  refuseOtherKey(parts, config, 'depositAddressKey', publicKey)
  return { ...parts, kind: 'line', paying, landsWithinSeconds: family.landsWithinSeconds }
}

/** @throws ConfigurationError */
function requireKey({ key: chain }: PaidChainParts, keys: FillKeys, setting: string): Secret {
  const key = keys.get(setting)
  if (key !== undefined) return key
  throw new ConfigurationError(lackOfKey(setting, chain))
}

/** Sentence about a key that is missing. */
export const lackOfKey = (setting: string, chain: string): string =>
  `${setting} or ${setting}_FILE is required: chains.${chain} is paid on with it.`

/** A market shared by turns needs chains that refuse a transaction after its deadline; these do not. @throws ConfigurationError */
function refuseSharing({ key }: PaidChainParts, sharing: LoadedFiles['solver']['sharing']): void {
  if (sharing !== undefined)
    throw new ConfigurationError(`solver: chains.${key} cannot be shared by turns: remove it, or sharing`)
}

/**
 * Compares a setting of the quote file with the key: nobody would count payments from another wallet, and this solver could
 * not empty deposit addresses that name another key. @throws ConfigurationError
 */
function refuseOtherKey(
  { key }: PaidChainParts,
  config: QuoteChain,
  field: 'fillWallet' | 'depositAddressKey',
  expectedKey: { readonly what: string; readonly value: string },
): void {
  const { [field]: configuredValue } = config
  if (configuredValue !== undefined && configuredValue !== expectedKey.value)
    throw new ConfigurationError(
      `quote: chains.${key}.${field} is not the ${expectedKey.what}, ${expectedKey.value}`,
    )
}

/** Opens a chain's reader, here only to check the chain and for its final blocks: it keeps no facts. */
export function openFamily(chain: RegisteredChain, hub: Hub | undefined): FamilyChain {
  if (!isReadable(chain)) throw new ConfigurationError(`chains: ${chain.id} cannot be read`)
  const limits = {
    finalEntriesMax: 0,
    isKnownCode: (({ name }, code) => isKnownCode(name, code)) satisfies KnownCode,
  }
  return openFamilyChain(chain, limits, hub?.entries)
}
