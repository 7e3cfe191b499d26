// Writes `configs/schema/*.json` from the zod schemas; editors check the configuration files with them.
import { configJsonSchemas } from './configs/jsonSchemas.ts'
import { writeJson } from './configs/writeJson.ts'

for (const [name, schema] of Object.entries(configJsonSchemas())) {
  writeJson(`configs/schema/${name}`, schema)
  console.log(`wrote configs/schema/${name}`)
}
