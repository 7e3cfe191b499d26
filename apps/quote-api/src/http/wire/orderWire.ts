import { stepDataSchema } from '@causeway/families/rules'
import { z } from 'zod'

const text = z.string()

const refundSchema = z.object({
  chainId: text,
  recipient: text,
  currency: text,
  minimumAmount: text,
  deadline: z.number(),
  extraData: text,
})

export const orderDataSchema = z
  .object({
    version: text,
    solverChainId: text,
    solver: text,
    salt: text,
    inputs: z
      .array(
        z.object({
          payment: z.object({ chainId: text, currency: text, amount: text, weight: text }),
          refunds: z.array(refundSchema).readonly(),
        }),
      )
      .readonly(),
    output: z.object({
      chainId: text,
      payments: z
        .array(z.object({ recipient: text, currency: text, minimumAmount: text, expectedAmount: text }))
        .readonly(),
      calls: z.array(text).readonly(),
      deadline: z.number(),
      extraData: text,
    }),
    fees: z
      .array(
        z.object({
          recipientChainId: text,
          recipient: text,
          currencyChainId: text,
          currency: text,
          amount: text,
        }),
      )
      .readonly(),
  })
  .describe('The order as it is hashed: chains by name')
  .meta({ title: 'OrderData' })

export const orderSignatureSchema = text
  .optional()
  .describe('EIP-191 signature of orderId by orderData.solver; in quotes with includeProtocolData: true')

/** The order in a quote's answer. @source rules P-128, Q-184 */
export const orderWireSchema = z.object({
  orderId: text.describe('EIP-712 struct hash of orderData; the id that the deposit names'),
  hubType: z.literal('onchain'),
  orderData: orderDataSchema,
  orderSignature: orderSignatureSchema,
  paymentDetails: z.object({ chainId: text, depository: text, currency: text, amount: text }),
})

const typedDataSchema = z.object({
  signatureKind: z.literal('eip712'),
  domain: z.object({ name: text, version: text.optional(), chainId: z.number(), verifyingContract: text }),
  types: z.record(text, z.array(z.object({ name: text, type: text })).readonly()),
  primaryType: text,
  value: z.record(text, z.union([text, z.number(), z.array(z.unknown()), z.record(text, z.unknown())])),
})

/** The endpoint that a signature is sent to, and the body that goes with it. */
const postOf = <Endpoint extends string, Body extends z.ZodType>(endpoint: Endpoint, body: Body) =>
  z.object({
    endpoint: z.literal(endpoint).describe('The signature goes into its query as `signature`'),
    method: z.literal('POST'),
    body,
  })
const permitPost = postOf('/execute/permits', z.object({ kind: text, requestId: text, api: text }))
const mappingPost = postOf(
  '/authorize',
  z.object({
    type: text,
    walletChainId: z.number(),
    wallet: text,
    depositor: text,
    nonce: z.number(),
    id: text,
    signatureChainId: z.number(),
  }),
)

const wording = { action: text, description: text }
const identity = {
  requestId: text,
  depositAddress: text.optional(),
  depositTerms: z
    .object({ orderSigner: text, sweeper: text, depositor: text, nonce: text })
    .optional()
    .describe('What the address is derived from: its depositor takes back what lies there by naming them'),
}
const itemOf = <Data extends z.ZodType>(data: Data) =>
  z.object({
    status: z.literal('incomplete'),
    data,
    check: z.object({ endpoint: text, method: z.literal('GET') }).optional(),
  })

/** A transaction, a permit to sign, or the authorization of a transfer that names no order. */
const formsOfStep = z.discriminatedUnion('id', [
  z.object({
    id: z.enum(['approve', 'deposit', 'swap', 'send']),
    ...wording,
    kind: z.literal('transaction'),
    ...identity,
    items: z.array(itemOf(stepDataSchema)),
  }),
  z.object({
    id: z.enum(['authorize1', 'authorize2']),
    ...wording,
    kind: z.literal('signature'),
    ...identity,
    items: z.array(itemOf(z.object({ chainId: z.number(), sign: typedDataSchema, post: permitPost }))),
  }),
  z.object({
    id: z.literal('authorize'),
    ...wording,
    kind: z.literal('signature'),
    ...identity,
    items: z.array(itemOf(z.object({ sign: typedDataSchema, post: mappingPost }))),
  }),
])

/** A step of a quote, for OpenAPI. The JSON that is hashed is written by `draftQuote`, not by this. */
export const stepSchema = formsOfStep.meta({ title: 'Step' })
