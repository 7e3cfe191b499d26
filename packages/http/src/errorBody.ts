import { z } from 'zod'

/**
 * Body of every answer that is not a success, of both services.
 * @source rule Q-139
 */
export const errorBodySchema = z
  .object({
    message: z.string().describe('What went wrong and, where it helps, what would mend it'),
    errorCode: z.string().describe('Stable code of the failure'),
    statusCode: z.int().describe('The HTTP status, for clients that only see the body'),
    errorData: z
      .string()
      .optional()
      .describe('On every 400 and only there: JSON text of an object, whose members the code decides'),
    retryable: z.boolean().optional().describe('True when the same request may succeed later'),
    error: z.string().optional().describe('On every 429 and only there'),
  })
  .meta({ title: 'Error' })

export type ErrorBody = z.infer<typeof errorBodySchema>

/**
 * Response schemas of all error statuses; every route spreads them into its `response`. The route's `errors` say which of
 * these statuses it really answers with, and by which codes.
 */
export const errorResponses = {
  400: errorBodySchema,
  401: errorBodySchema,
  403: errorBodySchema,
  404: errorBodySchema,
  409: errorBodySchema,
  413: errorBodySchema,
  415: errorBodySchema,
  429: errorBodySchema,
  500: errorBodySchema,
  503: errorBodySchema,
} as const
