import { z } from 'zod'
import type { SolverTerms } from '../../requests/stops/solverTerms.ts'

const address = '[0-9a-zA-Z]{1,100}'
const listOf = (entry: string, max: number) =>
  z
    .string()
    .regex(new RegExp(`^${entry}(,${entry}){0,${max - 1}}$`), 'must be entries with commas between them')
    .optional()

/** Query members of GET /solver/work by which a solver states its terms: what it fills with, and its limits. */
export const termsQuery = {
  solver: z
    .string()
    .regex(/^[0-9a-zA-Z-]{1,64}$/)
    .optional()
    .describe(
      'Name of the solver, under which the members below are kept for a minute; without it they are compared',
    ),
  orderSigners: listOf('0x[0-9a-fA-F]{40}', 32).describe('Addresses whose orders it fills'),
  pays: listOf(`[0-9]{1,15}:${address}(:${address})?`, 64).describe(
    'Chains that it pays on: `chainId:wallet`, or `chainId:wallet:fillContract`',
  ),
  sharedWallets: listOf('0x[0-9a-fA-F]{40}', 32).describe('Fill wallets that share its market by turns'),
  floors: listOf(`[0-9]{1,15}:${address}:[0-9]{1,78}`, 256).describe(
    'What it never pays out: `chainId:currency:amount`',
  ),
  lossPerOrderMicroUsd: z
    .string()
    .regex(/^[0-9]{1,18}$/)
    .optional()
    .describe('The most that it gives away on one order'),
}

type TermsQuery = z.output<z.ZodObject<typeof termsQuery>>

/** Parts of each entry. The patterns above ensure the required ones; defaults below only satisfy types. */
const entriesOf = (text: string): readonly (readonly string[])[] =>
  text.split(',').map((entry) => entry.split(':'))

/** @returns the stated terms, undefined if the query has none */
export function readTermsQuery(query: TermsQuery): SolverTerms | undefined {
  const { orderSigners, pays, sharedWallets, floors, lossPerOrderMicroUsd } = query
  const terms: SolverTerms = {
    ...(orderSigners !== undefined && { orderSigners: orderSigners.split(',') }),
    ...(pays !== undefined && {
      pays: entriesOf(pays).map(([chainId, wallet = '', fillContract]) => ({
        chainId: Number(chainId),
        wallet,
        ...(fillContract !== undefined && { fillContract }),
      })),
    }),
    ...(sharedWallets !== undefined && { sharedWallets: sharedWallets.split(',') }),
    ...(floors !== undefined && {
      floors: entriesOf(floors).map(([chainId, currency = '', amount = '0']) => ({
        chainId: Number(chainId),
        currency,
        amount,
      })),
    }),
    ...(lossPerOrderMicroUsd !== undefined && { lossPerOrderMicroUsd }),
  }
  return Object.keys(terms).length === 0 ? undefined : terms
}
