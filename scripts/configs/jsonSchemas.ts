import {
  allocatorFileSchema,
  chainsFileSchema,
  hubFileSchema,
  quoteFileSchema,
  settlementFileSchema,
  solverFileSchema,
} from '@causeway/core/config'
import { z } from 'zod'

const placeholderPattern = '^\\$[A-Z][A-Z0-9_]*$'

/** File name → JSON Schema of what an operator writes: placeholders may stand for any string. */
export function configJsonSchemas(): Readonly<Record<string, object>> {
  return {
    'allocator.schema.json': toJsonSchema(allocatorFileSchema, 'allocator.<ENVIRONMENT>.json'),
    'chains.schema.json': toJsonSchema(chainsFileSchema, 'chains.<ENVIRONMENT>.json'),
    'hub.schema.json': toJsonSchema(hubFileSchema, 'chains.hub.<ENVIRONMENT>.json'),
    'quote.schema.json': toJsonSchema(quoteFileSchema, 'quote.<ENVIRONMENT>.json'),
    'settlement.schema.json': toJsonSchema(settlementFileSchema, 'settlement.<ENVIRONMENT>.json'),
    'solver.schema.json': toJsonSchema(solverFileSchema, 'solver.<ENVIRONMENT>.json'),
  }
}

function toJsonSchema(schema: z.ZodType, title: string): object {
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    // A bigint default has no JSON form; the schema then only lacks its `default`.
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      if (jsonSchema.type === 'string' && jsonSchema.pattern !== undefined)
        jsonSchema.pattern = `${jsonSchema.pattern}|${placeholderPattern}`
    },
  })
  return { $schema, title, ...rest }
}
