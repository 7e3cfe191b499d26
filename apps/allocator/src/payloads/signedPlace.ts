import {
  bitcoinNetworkOf,
  bitcoinWithdrawalTransfer,
  type ChainNetwork,
  decodeBitcoinWithdrawal,
  decodeEvmWithdrawal,
  decodeHyperliquidWithdrawal,
  decodeLighterWithdrawal,
  decodeSolanaWithdrawal,
  type Hex,
  hyperliquidNativeDecimals,
  hyperliquidWithdrawalTransfer,
  InvalidWithdrawalError,
  lighterWithdrawalTransfer,
  mainNetwork,
  payloadWithdrawal,
  scriptAddress,
  solanaWithdrawalTransfer,
  tronEvmAddress,
  tronWithdrawalTransfer,
  withdrawalTransfer,
} from '@causeway/core'
import { z } from 'zod'
import { hexSchema } from '../files/hexSchema.ts'

const place = { hubChainId: z.string().regex(/^[0-9]+$/), depository: z.string() }

/** A depository that this signer's key may pay from, and what else its payloads have to say. */
export const signedPlaceSchema = z.discriminatedUnion('vmType', [
  z.object({ vmType: z.literal('ethereum-vm'), ...place }),
  z.object({ vmType: z.literal('tron-vm'), ...place }),
  z.object({ vmType: z.literal('solana-vm'), ...place, domain: hexSchema(32), vault: z.string() }),
  z.object({ vmType: z.literal('bitcoin-vm'), ...place, network: z.string() }),
  z.object({
    ...{ vmType: z.literal('hyperliquid-vm'), ...place, networkName: z.string() },
    tokens: z.array(z.object({ token: hexSchema(16), decimals: z.number().int().min(0).max(30) })),
  }),
  z.object({ vmType: z.literal('lighter-vm'), ...place, lighterChainId: z.string().regex(/^[0-9]+$/) }),
])
/** `hubChainId` is the chain's number on the hub; `depository` is canonical in its family. */
export type SignedPlace = z.output<typeof signedPlaceSchema>

/** The chain as `core` knows it. */
export function chainOfPlace(place: SignedPlace): ChainNetwork & { readonly hubChainId: string } {
  const { vmType, hubChainId } = place
  const { network } = place.vmType === 'bitcoin-vm' ? place : mainNetwork(vmType)
  return { vmType, hubChainId, network }
}

/** The depository as requests spell it. */
export function requestedDepository({ vmType, depository }: SignedPlace): string {
  return vmType === 'tron-vm' ? tronEvmAddress(depository) : depository
}

/** What a payload pays, in its family's canonical spelling. */
export type PayloadPayment = {
  readonly currency: string
  readonly amount: bigint
  readonly recipient: string
  /** Absent where a payload has no place for it. */
  readonly nonce?: bigint
  /** False for a payload of another deployment, or with money that goes elsewhere beside the payment. */
  readonly isOfPlace: boolean
}

/** @throws InvalidWithdrawalError for a payload that cannot be read */
export function paymentOf(place: SignedPlace, payload: Hex): PayloadPayment {
  switch (place.vmType) {
    case 'ethereum-vm': {
      const call = decodeEvmWithdrawal(payload)
      return { ...withdrawalTransfer(call), nonce: call.nonce, isOfPlace: true }
    }
    case 'tron-vm': {
      const call = decodeEvmWithdrawal(payload)
      return { ...tronWithdrawalTransfer(call), nonce: call.nonce, isOfPlace: true }
    }
    case 'solana-vm': {
      const request = decodeSolanaWithdrawal(payload)
      const isOfPlace = request.vaultAddress === place.vault && request.domain === place.domain
      return { ...solanaWithdrawalTransfer(request), nonce: request.nonce, isOfPlace }
    }
    case 'bitcoin-vm':
      return bitcoinPayment(place, payload)
    case 'hyperliquid-vm':
      return hyperliquidPayment(place, payload)
    case 'lighter-vm': {
      const transfer = decodeLighterWithdrawal(payload)
      const isOfPlace =
        transfer.lighterChainId === BigInt(place.lighterChainId) &&
        transfer.fromAccountIndex.toString() === place.depository
      return { ...lighterWithdrawalTransfer(transfer), isOfPlace }
    }
  }
}

/** Everything that it spends is the depository's, and all but the payment and its fee comes back. */
function bitcoinPayment(
  { depository, network: name }: Extract<SignedPlace, { vmType: 'bitcoin-vm' }>,
  payload: Hex,
): PayloadPayment {
  const network = bitcoinNetworkOf(name)
  const withdrawal = decodeBitcoinWithdrawal(payloadWithdrawal('bitcoin-vm', payload))
  const { inputs, transaction } = withdrawal
  const isOwn = (script: Uint8Array) => scriptAddress(script, network) === depository
  const isOfPlace =
    inputs.every(({ spent }) => isOwn(spent.script)) &&
    transaction.outputs.slice(1).every(({ script }) => isOwn(script))
  return { ...bitcoinWithdrawalTransfer(withdrawal, network), isOfPlace }
}

function hyperliquidPayment(
  { tokens, networkName }: Extract<SignedPlace, { vmType: 'hyperliquid-vm' }>,
  payload: Hex,
): PayloadPayment {
  const action = decodeHyperliquidWithdrawal(payload)
  const decimals =
    action.type === 'UsdSend'
      ? hyperliquidNativeDecimals
      : tokens.find(({ token }) => action.token.endsWith(`:${token}`))?.decimals
  if (decimals === undefined) throw new InvalidWithdrawalError('the decimals of its token are not known')
  const isInside =
    action.type === 'UsdSend' || (action.sourceDex === action.destinationDex && action.fromSubAccount === '')
  return {
    ...hyperliquidWithdrawalTransfer(action, decimals),
    isOfPlace: action.hyperliquidChain === networkName && isInside,
  }
}
