// The reference solver in a process of its own; `npm start` runs it. SOLVER_CONFIG_FILE names its file.
import { ConfigurationError } from '@causeway/core'
import { readSolverConfig } from './compose/solverConfig.ts'
import { startSolver } from './compose/startSolver.ts'

const log = (line: string) => console.log(`${new Date().toISOString()} ${line}`)
const asked = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
})

try {
  const solver = await startSolver(await readSolverConfig(process.env['SOLVER_CONFIG_FILE']), log)
  log(`ready on port ${solver.healthPort}`)
  await asked
  await solver.stop()
  log('stopped')
  process.exit(0)
} catch (error) {
  if (!(error instanceof ConfigurationError)) throw error
  log(error.message)
  process.exit(1)
}
