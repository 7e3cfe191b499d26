import { z } from 'zod'
import { hexSchema } from '../files/hexSchema.ts'
import { familyKeys } from './familyPlans.ts'

const port = z.number().int().min(0).max(65_535)

/** What the process of the stand-ins is told first: where to listen. 0 takes a free port. */
export const familyPortsSchema = z.object({
  solana: port,
  bitcoin: port,
  tron: port,
  hyperliquid: port,
  lighter: port,
  /** What operators and the network itself ask. */
  control: port,
})
export type FamilyPorts = z.infer<typeof familyPortsSchema>

const units = z.string().regex(/^[0-9]+$/)

/** The first state of a Solana that is quoted. */
const solanaFundingSchema = z.object({
  /** Of the key that mints and pays for accounts. */
  authoritySeed: hexSchema(32),
  grants: z.array(
    z.object({
      /** Base58. */
      address: z.string(),
      lamports: units,
      /** In smallest units, by symbol. */
      tokens: z.object({ USDC: units, WETH: units }),
    }),
  ),
})
export type SolanaFunding = z.infer<typeof solanaFundingSchema>

/** What it is told when the chains are up. */
export const familyNetworkSchema = z.object({
  /** The node of Base, which Tron's contracts run on. */
  node: z.object({ url: z.url(), chainId: z.number().int().positive() }),
  evmDepository: hexSchema(20),
  /** Deposits on Tron. */
  depositor: z.object({ address: hexSchema(20), privateKey: hexSchema(32) }),
  tronFile: z.string().min(1),
  /** Absent: Solana has its depository and SOL alone, and blocks only for transactions. */
  solanaFunding: solanaFundingSchema.optional(),
  /** Unix milliseconds that transactions on Tron are created from, one apart; default: the time of day. */
  tronCreatedFromMs: z.number().int().optional(),
})
export type FamilyNetwork = z.infer<typeof familyNetworkSchema>

/** One deposit. */
export const depositSchema = z.object({
  transactionId: z.string(),
  /** In smallest units. */
  amount: z.string().regex(/^[0-9]+$/),
})

export type FamilyDeposit = z.infer<typeof depositSchema>

const familySchema = z.object({ url: z.url(), depository: z.string(), firstDeposit: depositSchema })

/** What `GET /ready` of the process tells. */
export const familyFactsSchema = z.object({
  solana: familySchema,
  bitcoin: familySchema,
  tron: familySchema,
  hyperliquid: familySchema,
  lighter: familySchema,
})
export type FamilyFacts = z.infer<typeof familyFactsSchema>

/** The family that answers nobody any more. */
export const silencedSchema = z.object({ family: z.enum(familyKeys) })
