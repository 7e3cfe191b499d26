import { type AppFeeClaimTypedData, addressText, type Hex, uint256Text } from '@causeway/core'
import { errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'
import type { AppFeeClaims } from '../../money/appFees/claims.ts'
import { databaseErrors, mergeErrors } from '../routeErrors.ts'
import { parseWallet, walletText } from '../wire/walletText.ts'

const signatureStepSchema = z.object({
  id: z.literal('authorize'),
  action: z.string(),
  description: z.string(),
  kind: z.literal('signature'),
  requestId: z.string(),
  items: z.array(
    z.object({
      status: z.literal('incomplete'),
      data: z.object({
        sign: z.object({
          signatureKind: z.literal('eip712'),
          domain: z.object({ name: z.string(), version: z.string(), chainId: z.number().optional() }),
          types: z.record(z.string(), z.array(z.object({ name: z.string(), type: z.string() })).readonly()),
          primaryType: z.string(),
          value: z
            .record(z.string(), z.string())
            .describe('Service, wallet, recipient, amount and currency: check them, then sign'),
        }),
        post: z.object({
          endpoint: z.literal('/execute/permits'),
          method: z.literal('POST'),
          body: z.object({ kind: z.literal('claim'), requestId: z.string() }),
        }),
      }),
    }),
  ),
})

const schema = {
  operationId: 'claimAppFees',
  tags: ['app fees'],
  errors: mergeErrors(databaseErrors, {
    400: [
      'AMOUNT_TOO_LOW',
      'INSUFFICIENT_APP_FEES',
      'INVALID_ADDRESS',
      'INVALID_RECIPIENT',
      'RECIPIENT_HAS_CODE',
      'SANCTIONED_WALLET_ADDRESS',
      'UNSUPPORTED_CHAIN',
      'UNSUPPORTED_CURRENCY',
    ],
    503: [
      'CHAIN_STOPPED',
      'GAS_PRICE_TOO_HIGH',
      'PRICE_FETCH_FAILED',
      'RPC_HTTP_ERROR',
      'UPSTREAM_DISAGREEMENT',
    ],
  }),
  summary: 'Claim app fees: answers what the wallet has to sign',
  params: z.object({ wallet: walletText }),
  body: z.object({
    chainId: z.int().positive().describe('Chain of the fee currency, on which it is paid'),
    currency: addressText.describe('Currency of GET /app-fees/{wallet}/claimable'),
    amount: uint256Text.optional().describe('Smallest units; default: all'),
    recipient: addressText.describe('Account of that chain that is paid'),
  }),
  response: { 200: z.object({ steps: z.array(signatureStepSchema) }), ...errorResponses },
}

/**
 * POST /app-fees/{wallet}/claim: answers the step by which a wallet has its app fees paid out. Anyone may ask; nothing is
 * paid without the wallet's signature, sent to /execute/permits. @source rules L-78, Q-68
 */
export function registerClaimAppFees(app: HttpApp, { appFeeClaims }: { appFeeClaims: AppFeeClaims }): void {
  const config = { rateLimitClass: 'quote' }
  app.post('/app-fees/:wallet/claim', { schema, config }, async ({ params, body }) => {
    const { amount } = body
    const { claimId, typedData } = await appFeeClaims.prepare({
      wallet: parseWallet(params.wallet),
      chainId: body.chainId,
      currency: body.currency,
      recipient: spelledRecipient(body.recipient),
      amount: amount === undefined ? undefined : BigInt(amount),
    })
    return { steps: [signatureStep(claimId, typedData)] }
  })
}

/**
 * Recipient as written. One that looks like an EVM address becomes lower case once its checksum is right,
 * whatever family the chain is of.
 * @throws InvalidAddressError
 */
const spelledRecipient = (text: string): string =>
  walletText.safeParse(text).success ? parseWallet(text, 'recipient') : text

function signatureStep(claimId: Hex, typedData: AppFeeClaimTypedData): z.infer<typeof signatureStepSchema> {
  const post = {
    endpoint: '/execute/permits',
    method: 'POST',
    body: { kind: 'claim', requestId: claimId },
  } as const
  return {
    id: 'authorize',
    action: 'Claim app fees',
    description: 'Sign to have your app fees paid out',
    kind: 'signature',
    requestId: claimId,
    items: [{ status: 'incomplete', data: { sign: { signatureKind: 'eip712', ...typedData }, post } }],
  }
}
