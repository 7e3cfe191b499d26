import { type Hex, hexText } from '@causeway/core'
import { errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'
import { QuoteError } from '../../pricing/errors.ts'
import type { TakeCalls } from '../../requests/execute/takeCalls.ts'
import { requireKey } from '../../requests/history/historyAccess.ts'
import { databaseErrors, mergeErrors } from '../routeErrors.ts'
import { id32 } from '../wire/id32.ts'

const calldataBytesMax = 32_768
const address = z
  .string()
  .regex(/^0x[a-fA-F0-9]{40}$/, 'must be 0x and 40 hex digits')
  // CAST: the pattern above is that of Hex.
  .transform((text) => text.toLowerCase() as Hex)
/** 32 bytes; wallets drop leading zeros. */
const word = z
  .string()
  .regex(/^0x[a-fA-F0-9]{1,64}$/, 'must be 0x and 1 to 64 hex digits')
  // CAST: 64 hex digits are 32 bytes.
  .transform((text) => `0x${text.slice(2).toLowerCase().padStart(64, '0')}` as Hex)

const authorization = z.object({
  chainId: z.int().min(0).describe('0: on every chain'),
  address,
  nonce: z.int().min(0),
  yParity: z.int().min(0).max(1),
  r: word,
  s: word,
})

const bodySchema = z.object({
  executionKind: z.literal('rawCalls'),
  data: z.object({
    chainId: z.int().positive(),
    to: address.describe('The account that signed, its entry point or its delegation manager'),
    data: hexText(calldataBytesMax),
    value: z
      .union([
        z
          .string()
          .regex(/^([0-9]{1,78}|0x[a-fA-F0-9]{1,64})$/, 'must be decimal digits, or 0x and hex digits'),
        z.int().min(0),
      ])
      .describe('0: what the calls send comes from the account'),
    authorizationList: z.array(authorization).min(1).max(1).optional().describe('EIP-7702'),
  }),
  requestId: id32.optional().describe('Of a quote with originGasOverhead; required'),
  executionOptions: z
    .object({
      // Has no effect: the referrer is that of the quote.
      referrer: z.string().max(256).optional(),
      subsidizeFees: z.boolean().optional().describe('true: the quote must be sponsored'),
      destinationChainExecutionData: z.unknown().optional().describe('Refused: name calls in the quote'),
    })
    .optional(),
  originGasOverhead: z
    .union([z.int().min(0), z.string().regex(/^[0-9]{1,9}$/, 'must be 1 to 9 digits')])
    .optional()
    .describe('No effect: what was quoted counts'),
})

/**
 * POST /execute: calls of a smart account that the solver submits, for a quoted request.
 * @source rules
 */
export function registerExecute(app: HttpApp, { takeCalls }: { readonly takeCalls: TakeCalls }): void {
  const schema = {
    operationId: 'submitCalls',
    tags: ['execution'],
    security: [{ apiKey: [] }],
    errors: mergeErrors(databaseErrors, {
      400: [
        'EXECUTION_REFUSED',
        'SANCTIONED_WALLET_ADDRESS',
        'UNSUPPORTED_CHAIN',
        'UNSUPPORTED_EXECUTION_TYPE',
      ],
      404: ['REQUEST_NOT_FOUND'],
      503: ['CHAIN_STOPPED', 'RPC_HTTP_ERROR', 'UPSTREAM_DISAGREEMENT'],
    }),
    summary: "Submit a smart account's signed calls",
    body: bodySchema,
    response: { 200: z.object({ message: z.string(), requestId: z.string() }), ...errorResponses },
  }
  app.post('/execute', { schema, config: { rateLimitClass: 'quote' } }, async ({ body, apiKey }) => {
    const keyId = requireKey(apiKey)
    const { requestId, data: call, executionOptions = {} } = body
    if (executionOptions.destinationChainExecutionData !== undefined) {
      throw refusal('executionOptions.destinationChainExecutionData', 'name calls as txs of the quote')
    }
    if (requestId === undefined) throw refusal('requestId', 'calls without a quote are not submitted')
    const execution = {
      requestId,
      chainId: call.chainId,
      to: call.to,
      data: call.data,
      valueWei: BigInt(call.value),
      isSponsored: executionOptions.subsidizeFees === true,
      authorizationList: call.authorizationList ?? [],
    }
    await takeCalls(execution, keyId)
    return { message: 'Transaction submitted', requestId }
  })
}

function refusal(field: string, reason: string): QuoteError {
  return new QuoteError('INVALID_REQUEST', `${field} cannot be honoured: ${reason}.`, { data: { field } })
}
