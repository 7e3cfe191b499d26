import type { Hex } from '@causeway/core'
import { hyperliquidCodec } from '@causeway/core/encodings'
import { parseSignature } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import {
  hyperliquidAmount,
  hyperliquidAsset,
  hyperliquidStepData,
  sendAssetMembers,
  sendAssetType,
} from '../rules/quoting/hyperliquidQuoting.ts'
import { usdcToken } from '../rules/withdrawalTransfer.ts'

/** Parameters of a `sendAsset` action as they are signed: all texts, beside the nonce. */
export type TransferParameters = ReturnType<typeof hyperliquidStepData.parse>['action']['parameters']

/** Their schema, by which kept payments are read back. */
export const transferParameters = hyperliquidStepData.shape.action.shape.parameters

/** Chain id in the EIP-712 domain of the exchange's actions: Arbitrum's. */
const signatureChainId = 42_161

/**
 * A transfer of a currency between the same sides (dexes) of two accounts: the one on which the currency is held.
 * @param payment.token undefined for perps dollars
 * @throws RangeError for an amount that is finer than the exchange moves
 */
export function transferOf(payment: {
  readonly recipient: string
  readonly currency: string
  readonly amount: bigint
  readonly token: { readonly symbol: string; readonly decimals: number } | undefined
  readonly nonce: number
}): TransferParameters {
  const { recipient, currency, amount, token, nonce } = payment
  const isNative = currency === hyperliquidCodec.nativeCurrency
  // The exchange has no allowances.
  const quoted = { address: currency, isNative, resetsAllowance: false, ...token }
  const { dex, token: name } = hyperliquidAsset(quoted)
  return {
    hyperliquidChain: 'Mainnet',
    destination: recipient,
    sourceDex: dex,
    destinationDex: dex,
    token: name,
    amount: hyperliquidAmount(quoted, amount),
    // Empty: the wallet's own account pays, and no sub-account.
    fromSubAccount: '',
    nonce,
  }
}

/** Uses a nonce of the wallet up: moves a millionth of a dollar from one side of its own account to the other. */
export function spendingTransfer(wallet: string, nonce: number, from: 'perps' | 'spot'): TransferParameters {
  // The exchange names the first perps dex by an empty text.
  const [sourceDex, destinationDex] = from === 'perps' ? ['', 'spot'] : ['spot', '']
  return {
    hyperliquidChain: 'Mainnet',
    destination: wallet,
    sourceDex,
    destinationDex,
    token: `USDC:${usdcToken}`,
    amount: '0.000001',
    fromSubAccount: '',
    nonce,
  }
}

/** Signed transfer as the exchange accepts it. @source Hyperliquid API, "Exchange endpoint" */
export async function signTransfer(
  owner: Pick<PrivateKeyAccount, 'signTypedData'>,
  parameters: TransferParameters,
): Promise<object> {
  const verifyingContract: Hex = `0x${'0'.repeat(40)}`
  const domain = { name: 'HyperliquidSignTransaction', version: '1', chainId: signatureChainId }
  const { nonce, ...texts } = parameters
  const signature = await owner.signTypedData({
    domain: { ...domain, verifyingContract },
    types: { [sendAssetType]: sendAssetMembers },
    primaryType: sendAssetType,
    message: { ...texts, nonce: BigInt(nonce) },
  })
  // `v` may be left out: it is 27 plus the parity.
  const { r, s, v, yParity } = parseSignature(signature)
  const action = { type: 'sendAsset', signatureChainId: `0x${signatureChainId.toString(16)}`, ...parameters }
  return { action, nonce, signature: { r, s, v: Number(v ?? BigInt(27 + yParity)) } }
}
