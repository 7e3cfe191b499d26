import { z } from 'zod'
import { hexSchema } from '../files/hexSchema.ts'
import { familyKeys } from './familyPlans.ts'

const port = z.number().int().min(0).max(65_535)

/** First message to the process of the stand-ins: the ports to listen on. 0 takes a free port. */
export const familyPortsSchema = z.object({
  solana: port,
  bitcoin: port,
  tron: port,
  hyperliquid: port,
  lighter: port,
  /** Port for operators and the network itself. */
  control: port,
})
export type FamilyPorts = z.infer<typeof familyPortsSchema>

const units = z.string().regex(/^[0-9]+$/)
/** Balances of accounts of an exchange in dollars, smallest units. */
const dollars = z.array(z.object({ account: z.string(), owner: hexSchema(20), amount: units }))

/** The first state of chains that are quoted. Tron's is a part of its node's. */
const familyFundingSchema = z.object({
  solana: z.object({
    /** Seed of the key that mints and pays for accounts. */
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
  }),
  /** A transaction that pays coins from nothing: bytes in hex, without `0x`. */
  bitcoin: z.string(),
  hyperliquid: dollars,
  lighter: dollars,
})
export type FamilyFunding = z.infer<typeof familyFundingSchema>

/** Facts that it is told when the chains of the EVM are up. */
export const familyNetworkSchema = z.object({
  /** The node of Base, which Tron's contracts run on. */
  node: z.object({ url: z.url(), chainId: z.number().int().positive() }),
  tronDepository: hexSchema(20),
  tronUsdc: hexSchema(20),
  /** Deposits on Tron. */
  depositor: z.object({ address: hexSchema(20), privateKey: hexSchema(32) }),
  /** Folder of what chains keep over a restart; absent: they keep nothing. */
  stateFolder: z.string().min(1).optional(),
  /** Absent: the chains have their depositories alone, and Solana blocks only for transactions. */
  funding: familyFundingSchema.optional(),
  /** Unix milliseconds that transactions on Tron are created from, one apart; default: the time of day. */
  tronCreatedFromMs: z.number().int().optional(),
})
export type FamilyNetwork = z.infer<typeof familyNetworkSchema>

/** One deposit. */
export const depositSchema = z.object({
  transactionId: z.string(),
  /** In smallest units. */
  amount: units,
})

export type FamilyDeposit = z.infer<typeof depositSchema>

/** A chain that is open. */
export const familyFactsSchema = z.object({
  url: z.url(),
  depository: z.string(),
  firstDeposit: depositSchema,
})
export type FamilyFacts = z.infer<typeof familyFactsSchema>

const family = z.enum(familyKeys)

/** The family that is to be opened, or that answers nobody any more. */
export const namedFamilySchema = z.object({ family })

/** A kind of account of it. */
export const namedWalletSchema = z.object({ family, wallet: z.string() })

/** A new account. */
export const placedWalletSchema = z.object({ account: z.string() })

/** Answer of `GET /families` of the process: those that are open. */
export const openFamiliesSchema = z.partialRecord(family, familyFactsSchema)
