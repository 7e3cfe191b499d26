import { z } from 'zod'

/** Why an operator does something; stored with the action. */
export const operatorReason = z.string().regex(/^[\x20-\x7e]{1,200}$/, 'must be 1 to 200 plain characters')
