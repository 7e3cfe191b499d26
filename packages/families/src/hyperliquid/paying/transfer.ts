import type { Hex } from '@causeway/core'
import { hyperliquidCodec } from '@causeway/core/encodings'
import { parseSignature } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { usdcTokenId } from '../reading/requests.ts'
import {
  hyperliquidAmount,
  hyperliquidAsset,
  hyperliquidStepData,
  sendAssetMembers,
  sendAssetType,
} from '../rules/quoting/hyperliquidQuoting.ts'

/** The parameters of a transfer, all but its nonce as text, as they are signed. */
export type TransferParameters = ReturnType<typeof hyperliquidStepData.parse>['action']['parameters']

export const transferParameters = hyperliquidStepData.shape.action.shape.parameters

/** Wallets of the exchange sign under the number of Arbitrum. */
const signatureChainId = 42_161

/**
 * A transfer from the part of the account where a currency is held to the same part of the recipient's.
 * @param symbol of a token; absent for perps dollars
 * @throws RangeError for parts of what the exchange moves
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
  const quoted = { address: currency, isNative, resetsAllowance: false, ...token }
  const { dex, token: name } = hyperliquidAsset(quoted)
  return {
    ...{ hyperliquidChain: 'Mainnet', destination: recipient, sourceDex: dex, destinationDex: dex },
    ...{ token: name, amount: hyperliquidAmount(quoted, amount), fromSubAccount: '', nonce },
  }
}

/** Spends a nonce of the wallet on nothing: a millionth of a dollar from one part of its account to another. */
export function spendingTransfer(wallet: string, nonce: number, from: 'perps' | 'spot'): TransferParameters {
  const [sourceDex, destinationDex] = from === 'perps' ? ['', 'spot'] : ['spot', '']
  return {
    ...{ hyperliquidChain: 'Mainnet', destination: wallet, sourceDex, destinationDex },
    ...{ token: `USDC:${usdcTokenId}`, amount: '0.000001', fromSubAccount: '', nonce },
  }
}

/** Signed transfer as the exchange accepts it. @source Hyperliquid API, "Exchange endpoint" */
export async function signTransfer(
  owner: Pick<PrivateKeyAccount, 'signTypedData'>,
  parameters: TransferParameters,
): Promise<object> {
  const verifyingContract: Hex = `0x${'0'.repeat(40)}`
  const domain = { name: 'HyperliquidSignTransaction', version: '1', chainId: signatureChainId }
  const { nonce, ...rest } = parameters
  const signature = await owner.signTypedData({
    domain: { ...domain, verifyingContract },
    ...{ types: { [sendAssetType]: sendAssetMembers }, primaryType: sendAssetType },
    message: { ...rest, nonce: BigInt(nonce) },
  })
  const { r, s, v, yParity } = parseSignature(signature)
  const action = { type: 'sendAsset', signatureChainId: `0x${signatureChainId.toString(16)}`, ...parameters }
  return { action, nonce, signature: { r, s, v: Number(v ?? BigInt(27 + yParity)) } }
}
