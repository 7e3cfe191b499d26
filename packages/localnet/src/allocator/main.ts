// The allocator signer in a process of its own; `npm start` runs it. ALLOCATOR_CONFIG_FILE names its file.
import { ConfigurationError } from '@causeway/core'
import { readSignerConfig } from './signerConfig.ts'
import { startAllocatorSigner } from './startAllocatorSigner.ts'

const log = (line: string) => console.log(`${new Date().toISOString()} ${line}`)
const asked = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
})

try {
  const signer = await startAllocatorSigner(await readSignerConfig(process.env['ALLOCATOR_CONFIG_FILE']), log)
  log(`ready on port ${signer.healthPort}`)
  await asked
  await signer.stop()
  log('stopped')
  process.exit(0)
} catch (error) {
  if (!(error instanceof ConfigurationError)) throw error
  log(error.message)
  process.exit(1)
}
