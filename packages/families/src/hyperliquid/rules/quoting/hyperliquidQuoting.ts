import type { Hex } from '@causeway/core'
import { formatFixed, nonceMappingTypedData } from '@causeway/core'
import { hyperliquidCodec } from '@causeway/core/encodings'
import { z } from 'zod'
import { burntAccounts, reservedAccount } from '../../../ethereum/rules/reservedAccounts.ts'
import type { Authorization, EncodedTransaction, StepIdentity } from '../../../rules/encodedStep.ts'
import type { OriginRoute, QuotedCurrency } from '../../../rules/originRoute.ts'
import type { PlannedTransaction } from '../../../rules/plannedTransaction.ts'
import type { ChainQuoting, ChainSettings, QuotingFamily } from '../../../rules/quotingFamily.ts'
import { hyperliquidNativeDecimals, usdcToken } from '../withdrawalTransfer.ts'

/** Members of a transfer's typed data, in the order in which they are hashed. */
export const sendAssetMembers = [
  { name: 'hyperliquidChain', type: 'string' },
  { name: 'destination', type: 'string' },
  { name: 'sourceDex', type: 'string' },
  { name: 'destinationDex', type: 'string' },
  { name: 'token', type: 'string' },
  { name: 'amount', type: 'string' },
  { name: 'fromSubAccount', type: 'string' },
  { name: 'nonce', type: 'uint64' },
] as const

/** The name of the typed data of a transfer. */
export const sendAssetType = 'HyperliquidTransaction:SendAsset'

const nonceNumber = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)

/**
 * A transfer, as the public client signs it and hands it to the exchange.
 * @source github.com/relayprotocol/relay-kit, sdk/src/utils/hyperliquid.ts
 */
export const hyperliquidStepData = z.object({
  action: z.object({
    type: z.literal('sendAsset'),
    parameters: z.object({
      hyperliquidChain: z.string(),
      destination: z.string(),
      sourceDex: z.string(),
      destinationDex: z.string(),
      token: z.string(),
      amount: z.string(),
      fromSubAccount: z.string(),
      nonce: nonceNumber,
    }),
  }),
  nonce: nonceNumber,
  eip712Types: z.record(z.string(), z.array(z.object({ name: z.string(), type: z.string() })).readonly()),
  eip712PrimaryType: z.string(),
})

/**
 * Addresses that move a token to the sender's account on HyperEVM instead of paying it.
 * @source Hyperliquid documentation, "HyperCore to HyperEVM transfers"
 */
const systemAddress = /^0x(20(?:00){15}[0-9a-f]{8}|(?:22){20})$/

function reserved(account: string): string | undefined {
  return systemAddress.test(account) ? 'a system address of the exchange' : reservedAccount(account)
}

/** The exchange counts in 64 bits. */
export const hyperliquidAmountMax = 2n ** 64n - 1n

/** Smallest transfer between perps accounts: the exchange moves only 6 of 8 decimals. @source rule F-157 */
export const perpsGranularity = 100n

/**
 * Hyperliquid in quotes. Its transfers name no order: the user first signs which order the nonce of his transfer is for
 * (`authorization`), and then the transfer. @source rules F-153, F-156
 */
export const hyperliquidQuoting = {
  feeModel: 'flat',
  reserved,
  // Accounts that nobody holds, so that nothing is refunded to them.
  burnt: burntAccounts,
  accountOfHex: (hex) => hex,
  stepData: hyperliquidStepData,
  bind: (settings): ChainQuoting => ({
    isNobody: (address) => burntAccounts.some((burnt) => burnt === address.toLowerCase()),
    // An address does not tell whether somebody has its key.
    canSign: () => true,
    amountMax: () => hyperliquidAmountMax,
    granularity: ({ isNative }) => (isNative ? perpsGranularity : 1n),
    // No account has code: fills run no calls, and no payment is refused for the recipient's code.
    runsCalls: false,
    paysTokensToCode: true,
    // Dollars of the spot side and of the perps side are paid from their own balances only.
    keepsSides: true,
    // Routes that users execute alone get a price, but no quote: no `call` of a step would identify them.
    tellsCallsApart: false,
    // Orders name their solver under an EVM chain: only there solvers sign promises, which recovery needs.
    namesSolvers: false,
    hexAddress: (address) => address.toLowerCase() as Hex, // CAST: accounts are 20 bytes of hex.
    // No payment needs an allowance, and no cost depends on balances that are read before pricing.
    spenderOf: () => undefined,
    touched: () => [],
    plan: (route) => [plan(route)],
    encode: (planned, route, { identity }) => encode(settings, planned, route, identity),
    authorization: (planned, route, identity) => authorization(settings, planned, route, identity),
    transferNonce: ({ orderId, deadlineSeconds }) => depositNonce(orderId, deadlineSeconds),
    addressSwap: () => undefined,
    encodeAddressSwap: () => {
      throw new Error('this family has no deposit addresses')
    },
  }),
} satisfies QuotingFamily

/**
 * The nonce of an order's deposit: milliseconds, as the exchange expects, of the order's deadline. The order's id
 * decides the milliseconds within the second, so that two orders of a wallet hardly ever share a nonce.
 */
export function depositNonce(orderId: Hex, deadlineSeconds: number): number {
  return deadlineSeconds * 1_000 + Number(BigInt(orderId) % 1_000n)
}

/** Both ways of depositing are one transfer here. @throws Error for ways that this family does not have */
function plan({ by, swap, currencyIn: { isNative } }: OriginRoute): PlannedTransaction {
  if (by === 'send') return { kind: 'send-input', isNative }
  if ((by === 'deposit' || by === 'deposit-transfer') && swap === undefined)
    return { kind: 'deposit', isNative }
  throw new Error(`nothing is deposited by ${by} on this family`)
}

/** The transfer that the user signs. @throws Error for other kinds: what users do alone is only priced */
function encode(
  { depository }: Pick<ChainSettings, 'depository'>,
  { kind }: PlannedTransaction,
  { currencyIn, amountIn }: OriginRoute,
  { orderId, deadlineSeconds }: StepIdentity,
): EncodedTransaction {
  if (kind !== 'deposit' || orderId === undefined) throw new Error(`no ${kind} is encoded on this family`)
  const nonce = depositNonce(orderId, deadlineSeconds)
  const { dex, token } = hyperliquidAsset(currencyIn)
  const step: z.infer<typeof hyperliquidStepData> = {
    action: {
      type: 'sendAsset',
      parameters: {
        hyperliquidChain: 'Mainnet',
        destination: depository,
        sourceDex: dex,
        destinationDex: dex,
        token,
        amount: hyperliquidAmount(currencyIn, amountIn),
        fromSubAccount: '',
        nonce,
      },
    },
    nonce,
    eip712Types: { [sendAssetType]: sendAssetMembers },
    eip712PrimaryType: sendAssetType,
  }
  return { data: step, call: undefined }
}

/** The statement about the transfer's nonce, which the user signs and the client posts to `/authorize`. */
function authorization(
  { chainId, chainKey }: ChainSettings,
  { kind }: PlannedTransaction,
  { user }: OriginRoute,
  { orderId, deadlineSeconds }: StepIdentity,
): Authorization | undefined {
  if (kind !== 'deposit' || orderId === undefined) return undefined
  if (chainKey === undefined) throw new Error('the chain has no name')
  const [wallet, nonce] = [user.toLowerCase(), depositNonce(orderId, deadlineSeconds)]
  const mapping = { wallet, depositor: wallet, nonce, id: orderId }
  return {
    sign: {
      signatureKind: 'eip712',
      ...nonceMappingTypedData(signatureChainId),
      value: { chainId: chainKey, ...mapping },
    },
    post: {
      endpoint: '/authorize',
      method: 'POST',
      body: { type: 'nonce-mapping', walletChainId: chainId, ...mapping, signatureChainId },
    },
  }
}

/**
 * Placeholder: the public client replaces it by the chain that its wallet is on.
 * @source github.com/relayprotocol/relay-kit, sdk/src/utils/hyperliquid.ts
 */
const signatureChainId = 1

/** The dex that holds a currency, and the exchange's name of its token. @throws Error for a token without a symbol */
export function hyperliquidAsset({ address, isNative, symbol = '' }: QuotedCurrency): {
  /** `spot`, empty for the first perps dex, or the name of another. */
  readonly dex: string
  /** `SYMBOL:0x…` */
  readonly token: string
} {
  if (isNative) return { dex: '', token: `USDC:${usdcToken}` }
  const tokenId = address.slice(0, tokenCharacters)
  if (symbol === '') throw new Error(`${address} has no symbol`)
  const dex = Buffer.from(address.slice(tokenCharacters), 'hex').toString('latin1')
  return { dex: dex === '' ? 'spot' : dex, token: `${symbol}:${tokenId}` }
}

/** Characters of a token's id in a currency; the ASCII of a perps dex's name follows as hex, and nothing for spot. */
const tokenCharacters = hyperliquidCodec.nativeCurrency.length

/** Decimal text of an amount. @throws RangeError for perps dollars with more than the six decimals moved */
export function hyperliquidAmount(
  { isNative, decimals = hyperliquidNativeDecimals }: QuotedCurrency,
  amount: bigint,
): string {
  if (!isNative) return formatFixed(amount, decimals)
  if (amount % perpsGranularity !== 0n) throw new RangeError('the exchange moves no such part of a dollar')
  // The last two decimals are zeros, and left out.
  return formatFixed(amount / perpsGranularity, hyperliquidNativeDecimals - 2)
}
