import { bytes32Text, type Hex, hexText } from '@causeway/core'
import { type PermitTerms, tokenPermitKinds } from '@causeway/families/rules'
import { z } from 'zod'

const calldataBytesMax = 65_536
// CAST: the pattern is that of Hex.
const address = z
  .string()
  .regex(/^0x[0-9a-f]{40}$/)
  .transform((text) => text as Hex)
const integer = z
  .string()
  .regex(/^[0-9]{1,78}$/)
  .transform(BigInt)

/** Members that all permits have. */
const signedDeposit = {
  by: z.literal('permit'),
  token: address,
  owner: address,
  amount: integer,
  deadlineSeconds: z.int(),
  orderId: bytes32Text,
}
const call = z.object({ to: address, data: hexText(calldataBytesMax), value: integer })

const tokenPermitSchema = z.object({
  ...signedDeposit,
  kind: z.enum(tokenPermitKinds),
  domain: z.object({ name: z.string(), version: z.string(), chainId: z.int() }),
  router: z.object({ contract: address, depositCodeHash: bytes32Text }),
  /** `nonces(owner)` of an EIP-2612 token. */
  nonce: integer.optional(),
})

const permit2Schema = z.object({
  ...signedDeposit,
  kind: z.literal('permit2'),
  chainId: z.int(),
  router: address,
  relayer: address,
  calls: z.array(call),
})

const userSchema = z.object({
  by: z.literal('user'),
  calls: z.array(call).min(1).describe('What the user sends besides approvals, in order'),
  afterBlock: integer.describe('Head of the chain when it was quoted'),
})

/** Shape of column `orders.execution`, which `executionToJson` writes. */
const executionSchema = z.union([tokenPermitSchema, permit2Schema, userSchema])

/** A transaction that a user who executes alone was quoted. */
export type QuotedCall = z.output<typeof userSchema>['calls'][number]

/** Execution of a request whose user sends no deposit. */
export type Execution =
  /** The user signs a permit, and the solver sends the deposit. */
  | { readonly by: 'permit'; readonly terms: PermitTerms }
  /** The user executes alone, without solver and order. `afterBlock` is the chain's head when it was quoted. */
  | { readonly by: 'user'; readonly calls: readonly QuotedCall[]; readonly afterBlock: bigint }

export function executionToJson(execution: Execution): string {
  const storedForm = execution.by === 'permit' ? { by: execution.by, ...execution.terms } : execution
  return JSON.stringify(storedForm, (_key, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )
}

/** Reads the column back. @throws Error on what `executionToJson` did not write */
export function parseExecution(json: unknown): Execution {
  const stored = executionSchema.parse(json)
  if (stored.by === 'user') return stored
  if (stored.kind === 'permit2') {
    const { by, ...terms } = stored
    return { by, terms }
  }
  const { by, kind, nonce, ...terms } = stored
  if (kind === 'eip3009') return { by, terms: { ...terms, kind } }
  if (nonce === undefined) throw new Error('a stored EIP-2612 permit lacks its nonce')
  return { by, terms: { ...terms, kind, nonce } }
}
