import type { Hex, ProtocolChain } from '@causeway/core'
import type { AllocatorDepository } from '@causeway/core/config'
import {
  bitcoinNetworkOf,
  InvalidWithdrawalError,
  mainNetwork,
  tronEvmAddress,
  type VmType,
} from '@causeway/core/encodings'
import {
  bitcoinWithdrawalTransfer,
  decodeBitcoinWithdrawal,
  decodeEvmWithdrawal,
  decodeHyperliquidWithdrawal,
  decodeLighterWithdrawal,
  decodeSolanaWithdrawal,
  families,
  hyperliquidNativeDecimals,
  hyperliquidWithdrawalTransfer,
  lighterWithdrawalTransfer,
  payloadWithdrawal,
  scriptAddress,
  solanaWithdrawalTransfer,
  tronWithdrawalTransfer,
  withdrawalTransfer,
} from '@causeway/families/rules'

type Payer = {
  /** String id of the chain, which enters the ids of accounts and tokens on the hub. */
  readonly chain: string
  /** The chain's number on the hub. */
  readonly hubChainId: string
  /** Canonical in its family. */
  readonly depository: string
}

/** A depository from which the allocator pays, and the constants that its family's payloads must have. */
export type PayingDepository =
  | (Payer & { readonly vmType: 'ethereum-vm' | 'tron-vm' })
  | (Payer & { readonly vmType: 'solana-vm'; readonly domain: Hex; readonly vault: string })
  | (Payer & { readonly vmType: 'bitcoin-vm'; readonly network: string | undefined })
  | (Payer & {
      readonly vmType: 'hyperliquid-vm'
      readonly networkName: string
      readonly tokens: readonly { readonly token: string; readonly decimals: number }[]
    })
  | (Payer & { readonly vmType: 'lighter-vm'; readonly lighterChainId: string })

/** The members of a depository's chain that are read from the chain file. */
export type PayerChain = {
  readonly id: string
  readonly vmType: VmType
  readonly network?: string | undefined
  readonly hubChainId: string
  readonly depository?: string | undefined
}

/**
 * Joins a depository's entry in the allocator file with its chain; `undefined` where members are missing.
 * @param problems gets sentences that name missing members, and members that the family does not have
 */
export function payingDepositoryOf(
  chain: PayerChain,
  entry: AllocatorDepository,
  problems: string[],
): PayingDepository | undefined {
  const { id, vmType, hubChainId, depository } = chain
  const { depositoryMembers } = families[vmType]
  const ownMembers: readonly string[] = depositoryMembers
  const { chain: _chain, caps: _caps, ...members } = entry
  for (const [member, value] of Object.entries(members)) {
    if (value !== undefined && !ownMembers.includes(member))
      problems.push(`${id}.${member} means nothing there`)
  }
  const { domain, vault, networkName, tokens, networkId } = entry
  const missing = depositoryMembers.filter((member) => entry[member] === undefined)
  for (const member of missing) problems.push(`${id}.${member} is needed`)
  if (depository === undefined) {
    problems.push(`${id} has no depository in the chain file`)
    return undefined
  }
  const payer = { chain: id, hubChainId, depository }
  switch (vmType) {
    case 'ethereum-vm':
    case 'tron-vm':
      return { ...payer, vmType }
    case 'bitcoin-vm':
      return { ...payer, vmType, network: chain.network }
    case 'solana-vm':
      return domain === undefined || vault === undefined ? undefined : { ...payer, vmType, domain, vault }
    case 'hyperliquid-vm':
      return networkName === undefined || tokens === undefined
        ? undefined
        : { ...payer, vmType, networkName, tokens }
    case 'lighter-vm':
      return networkId === undefined ? undefined : { ...payer, vmType, lighterChainId: networkId }
    default:
      problems.push(`${id}: no allocator pays from chains of ${vmType}`)
      return undefined
  }
}

/** A payer's chain as `core` takes it. */
export function chainOfPayer(payer: PayingDepository): ProtocolChain & { readonly hubChainId: string } {
  const { vmType, hubChainId, chain: chainId } = payer
  // In other families all networks spell addresses alike.
  const { network } = payer.vmType === 'bitcoin-vm' ? payer : mainNetwork(vmType)
  return { chainId, vmType, hubChainId, network }
}

/** The depository as withdraw requests spell it: on Tron in hex. */
export function requestedDepository({ vmType, depository }: PayingDepository): string {
  return vmType === 'tron-vm' ? tronEvmAddress(depository) : depository
}

/** The payment that a payload makes, in its family's canonical spelling. */
export type PayloadPayment = {
  readonly currency: string
  readonly amount: bigint
  readonly recipient: string
  /** The payload's nonce; absent in families whose payloads have none. */
  readonly nonce?: bigint
  /** False if the payload takes from another depository or deployment, or sends money elsewhere beside the payment. */
  readonly isOfPayer: boolean
}

/** Reads the payment from a payload's bytes. @throws InvalidWithdrawalError for a payload that cannot be read */
export function paymentOf(payer: PayingDepository, payload: Hex): PayloadPayment {
  switch (payer.vmType) {
    // Payloads of contracts name no depository, but the hashes that are signed for them do.
    case 'ethereum-vm': {
      const call = decodeEvmWithdrawal(payload)
      return { ...withdrawalTransfer(call), nonce: call.nonce, isOfPayer: true }
    }
    case 'tron-vm': {
      const call = decodeEvmWithdrawal(payload)
      return { ...tronWithdrawalTransfer(call), nonce: call.nonce, isOfPayer: true }
    }
    case 'solana-vm': {
      const request = decodeSolanaWithdrawal(payload)
      const isOfPayer = request.vaultAddress === payer.vault && request.domain === payer.domain
      return { ...solanaWithdrawalTransfer(request), nonce: request.nonce, isOfPayer }
    }
    case 'bitcoin-vm':
      return bitcoinPayment(payer, payload)
    case 'hyperliquid-vm':
      return hyperliquidPayment(payer, payload)
    case 'lighter-vm': {
      const transfer = decodeLighterWithdrawal(payload)
      const isOfPayer =
        transfer.lighterChainId === BigInt(payer.lighterChainId) &&
        transfer.fromAccountIndex.toString() === payer.depository
      return { ...lighterWithdrawalTransfer(transfer), isOfPayer }
    }
  }
}

/** `isOfPayer`: all inputs are the depository's, and all outputs behind the first, the payment, return to it. */
function bitcoinPayment(
  { depository, network: name }: Extract<PayingDepository, { vmType: 'bitcoin-vm' }>,
  payload: Hex,
): PayloadPayment {
  const network = bitcoinNetworkOf(name)
  const withdrawal = decodeBitcoinWithdrawal(payloadWithdrawal('bitcoin-vm', payload))
  const { inputs, transaction } = withdrawal
  const isOwn = (script: Uint8Array) => scriptAddress(script, network) === depository
  const isOfPayer =
    inputs.every(({ spent }) => isOwn(spent.script)) &&
    transaction.outputs.slice(1).every(({ script }) => isOwn(script))
  return { ...bitcoinWithdrawalTransfer(withdrawal, network), isOfPayer }
}

function hyperliquidPayment(
  { tokens, networkName }: Extract<PayingDepository, { vmType: 'hyperliquid-vm' }>,
  payload: Hex,
): PayloadPayment {
  const action = decodeHyperliquidWithdrawal(payload)
  // An action names its token as `symbol:0x…`; the allocator file lists the part behind the colon.
  const decimals =
    action.type === 'UsdSend'
      ? hyperliquidNativeDecimals
      : tokens.find(({ token }) => action.token.endsWith(`:${token}`))?.decimals
  if (decimals === undefined) throw new InvalidWithdrawalError('the decimals of its token are not known')
  const staysOnDex =
    action.type === 'UsdSend' || (action.sourceDex === action.destinationDex && action.fromSubAccount === '')
  return {
    ...hyperliquidWithdrawalTransfer(action, decimals),
    isOfPayer: action.hyperliquidChain === networkName && staysOnDex,
  }
}
