import { z } from 'zod'
import { Secret } from '../secret.ts'
import { bps, chainKey, decimalInteger, environmentName, evmAddress } from './scalars.ts'

/** Base58 text of 32 bytes: a token on Solana. */
const base58Address = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/)
/** The native coin of Bitcoin, whose name is spelled as an address. */
const segwitAddress = z.string().regex(/^(bc|tb|bcrt)1[02-9ac-hj-np-z]{8,87}$/)
/** An exchange's index of a currency, on Lighter. */
const assetIndex = z.string().regex(/^(0|[1-9]\d{0,19})$/)
/** A token of Hyperliquid: 16 bytes, behind them the name of a dex or nothing. */
const exchangeToken = z.string().regex(/^0x[0-9a-fA-F]{32}(?:[0-9a-fA-F]{2})*$/)

const outPoint = z
  .string()
  .regex(/^[0-9a-f]{64}:\d{1,5}$/, { error: 'must be <transaction id>:<number of the output>' })
  .transform((text) => {
    const [txid = '', vout] = text.split(':')
    return { txid, vout: Number(vout) }
  })

const chainPolicySchema = z.object({
  maxFeePerGasWei: decimalInteger.describe(
    'Nothing is ever offered at a higher price of gas; on chains that bid for compute units, micro-lamports per unit; where coins are outputs, satoshi per 1,000 virtual bytes',
  ),
  submitRpcUrl: z
    .string()
    .transform((url) => new Secret(url))
    .optional()
    .describe(
      "On chains of a fill contract and nonces: the one endpoint that the fill wallet's transactions are sent to, by private or conditional sending; absent: all endpoints of the chain",
    ),
  /** At most the gas that the chain allows one transaction, and at most a quarter of a block's gas. */
  transactionGasMax: decimalInteger
    .default(2n ** 24n)
    .describe(
      'No transaction is signed with more gas, whatever was charged for it: at most what the chain lets one have, 2^24 on most, and a quarter of what a block holds',
    ),
  gasMarginBps: z
    .number()
    .int()
    .min(10_000)
    .max(100_000)
    .default(15_000)
    .describe(
      'What a transaction may cost when it is signed, of what was charged for its gas; 15000: half more',
    ),
  bumpAfterSeconds: z
    .number()
    .int()
    .min(1)
    .max(3_600)
    .default(30)
    .describe('A transaction that is not mined by then is offered at a higher price'),
  /** Two budgets of this size: of fills, claims and approvals; of refunds that are reduced by their gas. */
  gasPerHourWei: decimalInteger.describe(
    'Gas of fills, claims and approvals within one hour, and beside it as much for refunds that keep their gas, in the smallest unit of the native coin; with the rent of the accounts that payments make, where there is one',
  ),
  refundGasPerHourWei: decimalInteger
    .optional()
    .describe(
      'Gas of refunds that do not keep it, as those of dust, and of closing orders, within one hour, beside gasPerHourWei; by default a quarter as much',
    ),
  /** Two budgets of this size: of sweeps; of permits. */
  relayGasPerHourWei: decimalInteger.describe(
    'Gas of sweeps within one hour, and beside it as much for permits',
  ),
  firstOutput: outPoint
    .optional()
    .describe(
      'Where a chain keeps coins in outputs: the output of the fill wallet that the line of its payments begins with, <transaction id>:<number>; required there',
    ),
  apiKeyIndex: z
    .number()
    .int()
    .min(0)
    .max(254)
    .optional()
    .describe(
      "On an exchange whose accounts sign by keys of their own: the index of the fill wallet's; required there",
    ),
  firstNonce: decimalInteger
    .optional()
    .describe(
      'On such an exchange: the nonce of that key from which its transfers are read, by default the first; leave it, above all after a database was restored',
    ),
  gatherBelowSatPerKvb: decimalInteger
    .optional()
    .describe(
      'Where a chain keeps coins in outputs: other coins of the fill wallet are gathered into its line while the market is no dearer; absent: when a payment lacks them',
    ),
  /** See `ExposureLimits.chainMicroUsd`. A payment counts at the prices at which it was made. */
  unattestedMaxMicroUsd: decimalInteger
    .optional()
    .describe(
      'What may be paid there before oracles attest it, and as app fees, each at the prices of its moment; above it fills and claims wait; by default 500,000 USD',
    ),
  floors: z
    .array(
      z.object({
        currency: z.union([evmAddress, base58Address, segwitAddress, assetIndex, exchangeToken]),
        amount: decimalInteger,
      }),
    )
    .default([])
    .describe('What is never paid out, by currency, in smallest units; of native coin it is kept for gas'),
})

/**
 * `configs/solver.<ENVIRONMENT>.json`: on which chains the solver pays, and what its worst hour may cost.
 * @source rules L-12, L-21, L-22, P-53
 */
export const solverFileSchema = z.object({
  environment: environmentName,
  toleranceBps: bps
    .default(30)
    .describe('A fill may pay so much more than was deposited, by the prices of the moment'),
  lossPerOrderMicroUsd: decimalInteger.describe(
    'Beyond the tolerance: what one fill may give away, such as fees that a sponsor pays',
  ),
  lossPerHourMicroUsd: decimalInteger.describe(
    'All that fills pay above their deposits within one hour, over all chains, tolerance included',
  ),
  claimsPerHourMicroUsd: decimalInteger.describe('App fees that are paid out within one hour'),
  unattestedMaxMicroUsd: decimalInteger
    .optional()
    .describe('The same as of a chain, over all chains together; by default 2,000,000 USD'),
  /** See `ExposureLimits.refusedMicroUsd`. */
  refusedMaxMicroUsd: decimalInteger
    .optional()
    .describe(
      'What oracles may refuse for good of one token on one chain, of calls, or of payments to accounts with code, before no more of its kind is paid there; by default 100 USD',
    ),
  sharing: z
    .object({
      fillWallets: z
        .array(evmAddress)
        .min(2)
        .refine((wallets) => new Set(wallets).size === wallets.length, {
          error: 'a wallet is named twice',
        })
        .describe('All fill wallets of the market, the own one among them, in the same order at each solver'),
      turnSeconds: z
        .number()
        .int()
        .min(10)
        .max(86_400)
        .describe(
          'How long each of the others may fill what the first one left; longer than blocks take to be final',
        ),
    })
    .optional()
    .describe('Several solvers with wallets of their own; absent: this wallet alone'),
  chains: z.record(chainKey, chainPolicySchema).describe('Chains that it pays on, by their string id'),
})

export type SolverFile = z.infer<typeof solverFileSchema>
export type SolverChainPolicy = z.infer<typeof chainPolicySchema>

/** Limits of payments that oracles have not attested. Above one the solver stops paying what it concerns. */
export type ExposureLimits = {
  /** Unattested payments on the chain; claims of app fees are summed apart, up to the same limit. */
  readonly chainMicroUsd: bigint
  /** Unattested on all chains together. */
  readonly allMicroUsd: bigint
  /** Refused for good by oracles, of one kind: one token on one chain, calls, or payees with code. */
  readonly refusedMicroUsd: bigint
}

const microUsdPerUsd = 1_000_000n

export function exposureLimitsOf(
  file: Pick<SolverFile, 'unattestedMaxMicroUsd' | 'refusedMaxMicroUsd'>,
  policy: Pick<SolverChainPolicy, 'unattestedMaxMicroUsd'>,
): ExposureLimits {
  return {
    chainMicroUsd: policy.unattestedMaxMicroUsd ?? 500_000n * microUsdPerUsd,
    allMicroUsd: file.unattestedMaxMicroUsd ?? 2_000_000n * microUsdPerUsd,
    refusedMicroUsd: file.refusedMaxMicroUsd ?? 100n * microUsdPerUsd,
  }
}

/** By default refunds that are not reduced by their gas have this fraction (1/4) of `gasPerHourWei`. */
const refundGasDivisor = 4n

/** Gas budgets of a chain per hour, in smallest units of its native coin; see `chainPolicySchema`. */
export type GasBudgets = {
  readonly gasPerHourWei: bigint
  readonly refundGasPerHourWei: bigint
  readonly relayGasPerHourWei: bigint
}

export function gasBudgetsOf({
  gasPerHourWei,
  refundGasPerHourWei = gasPerHourWei / refundGasDivisor,
  relayGasPerHourWei,
}: Pick<SolverChainPolicy, keyof GasBudgets>): GasBudgets {
  return { gasPerHourWei, refundGasPerHourWei, relayGasPerHourWei }
}
