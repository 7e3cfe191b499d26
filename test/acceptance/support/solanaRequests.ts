// Requests to and from Solana, and what an answer says of who pays for them.
import { solanaLibrary } from '@causeway/families/rules'
import { z } from 'zod'
import { currencyAddress } from '../../../apps/quote-api/test/serviceSupport/localRequest.ts'
import { sol, solanaChainId } from '../../support/solanaService.ts'
import { newUser, quoteOf, type Sponsor } from './quoteRequests.ts'
import { amountShape, type Quote } from './quoteShapes.ts'
import type { QuoteWorld } from './quoteWorld.ts'

/** USD per SOL on the local network. */
export const solUsd = 150
/** Lamports of an account of the first token program. */
export const tokenRent = 2_039_280

export const newSolanaAddress = () => solanaLibrary().Keypair.generate().publicKey.toBase58()

/** 50 USDC of Base for USDC of somebody on Solana who has no account for it. */
export function toSolana({ network, bed }: QuoteWorld, change: object = {}): object {
  return {
    user: newUser(),
    recipient: newSolanaAddress(),
    originChainId: 8_453,
    destinationChainId: solanaChainId,
    originCurrency: currencyAddress(network, 'base', 'USDC'),
    destinationCurrency: bed.mint.toBase58(),
    amount: '50000000',
    tradeType: 'EXACT_INPUT',
    ...change,
  }
}

/** 0.1 SOL of a user who has much of it for USDC of Optimism. */
export function fromSolana({ network, bed }: QuoteWorld, change: object = {}): object {
  return {
    user: bed.user.publicKey.toBase58(),
    recipient: newUser(),
    originChainId: solanaChainId,
    destinationChainId: 10,
    originCurrency: sol,
    destinationCurrency: currencyAddress(network, 'optimism', 'USDC'),
    amount: '100000000',
    tradeType: 'EXACT_INPUT',
    ...change,
  }
}

const componentShape = z.looseObject({ total: amountShape, sponsored: amountShape, userPays: amountShape })
const sponsorshipShape = z.object({
  status: z.string(),
  reason: z.string().optional(),
  quoted: z.looseObject({ components: z.looseObject({ rent: componentShape.optional() }) }),
})
const payerShape = z.looseObject({ account: z.string(), networkFee: amountShape, rent: amountShape })

export type SolanaQuote = {
  readonly quote: Quote
  readonly subsidized: bigint
  readonly status: string
  readonly reason: string | undefined
  readonly rent: {
    readonly total: bigint
    readonly sponsored: bigint
    readonly userPays: bigint
    usd: number
  }
  /** Fees that a `depositFeePayer` pays. */
  readonly payer: { readonly account: string; readonly networkFee: bigint; readonly rent: bigint } | undefined
}

export async function quoteSolana(
  world: QuoteWorld,
  body: object,
  sponsor?: Pick<Sponsor, 'headers'>,
): Promise<SolanaQuote> {
  const quote = await quoteOf(world, body, sponsor?.headers)
  const sponsorship = sponsorshipShape.optional().parse(quote.feeSponsorship)
  const rent = sponsorship?.quoted.components.rent
  const units = (amount: { amount: string } | undefined) => BigInt(amount?.amount ?? 0)
  const payer = payerShape.optional().parse(quote.details['depositFeePayer'])
  return {
    quote,
    subsidized: units(quote.fees.subsidized),
    status: sponsorship?.status ?? 'none',
    reason: sponsorship?.reason,
    rent: {
      total: units(rent?.total),
      sponsored: units(rent?.sponsored),
      userPays: units(rent?.userPays),
      usd: Number(rent?.total.amountUsd ?? 0),
    },
    payer: payer && { account: payer.account, networkFee: units(payer.networkFee), rent: units(payer.rent) },
  }
}

/** Somebody with one SOL. */
export function fundedPayer({ bed }: QuoteWorld) {
  const payer = solanaLibrary().Keypair.generate()
  bed.node.airdrop(payer.publicKey.toBase58(), 10n ** 9n)
  return payer
}

export async function lamportsOf({ bed }: QuoteWorld, account: string): Promise<bigint> {
  const { PublicKey } = solanaLibrary()
  return BigInt(await bed.connection.getBalance(new PublicKey(account)))
}
