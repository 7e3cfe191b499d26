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
/** USDC balances of an exchange's accounts, in smallest units; `owner` is the address whose key signs. */
const exchangeBalances = z.array(z.object({ account: z.string(), owner: hexSchema(20), amount: units }))

/** First balances on the chains. Tron's are set on the node behind it. */
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
  hyperliquid: exchangeBalances,
  lighter: exchangeBalances,
})
export type FamilyFunding = z.infer<typeof familyFundingSchema>

/** Second message to the process: facts of the EVM chains, sent when these are up. */
export const familyNetworkSchema = z.object({
  /** The node of Base, which Tron's contracts run on. */
  node: z.object({ url: z.url(), chainId: z.number().int().positive() }),
  tronDepository: hexSchema(20),
  tronUsdc: hexSchema(20),
  /** Account that makes the deposits on Tron. */
  depositor: z.object({ address: hexSchema(20), privateKey: hexSchema(32) }),
  /** Folder of the journals that restore chains after a restart; absent: nothing is kept. */
  stateFolder: z.string().min(1).optional(),
  /** Absent: the chains have their depositories alone, and Solana blocks only for transactions. */
  funding: familyFundingSchema.optional(),
  /** Unix milliseconds of the first transaction on Tron, each later one a millisecond after; absent: the clock. */
  tronCreatedFromMs: z.number().int().optional(),
})
export type FamilyNetwork = z.infer<typeof familyNetworkSchema>

/** A deposit of the native currency that a stand-in made; answer of `POST /deposit`. */
export const depositSchema = z.object({
  transactionId: z.string(),
  /** In smallest units. */
  amount: units,
})

export type FamilyDeposit = z.infer<typeof depositSchema>

/** An open chain; answer of `POST /open`. */
export const familyFactsSchema = z.object({
  url: z.url(),
  depository: z.string(),
  firstDeposit: depositSchema,
})
export type FamilyFacts = z.infer<typeof familyFactsSchema>

const family = z.enum(familyKeys)

/** Body of `POST /open` and `POST /silence`, and answer of the latter. */
export const namedFamilySchema = z.object({ family })

/** Body of `POST /wallet`: the family, and a kind of account that it has. */
export const namedWalletSchema = z.object({ family, wallet: z.string() })

/** Answer of `POST /wallet`: the address of the new account. */
export const placedWalletSchema = z.object({ account: z.string() })

/** Answer of `GET /families`: the open ones. */
export const openFamiliesSchema = z.partialRecord(family, familyFactsSchema)
