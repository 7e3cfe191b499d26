// `npm run rehearsal`: what an operator of production does not run himself, on this machine: chains with what others
// have deployed there, a database server, a price service, key management. docs/operating/production.md goes on.
import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { takeCommandLine } from '@causeway/cli'
import { ConfigurationError } from '@causeway/core'
import { describeEnd, startRehearsal } from '@causeway/localnet'
import { fund, rehearsalProgram } from './rehearsal/fund.ts'
import { readTreasury, writeGiven } from './rehearsal/given.ts'

const root = join(import.meta.dirname, '..')
const directory = resolve(root, process.env['CAUSEWAY_REHEARSAL_DIR'] || '.rehearsal')
const words = process.argv.slice(2)

try {
  if (words.length === 0) await run()
  else {
    const { args } = takeCommandLine(words, rehearsalProgram)
    const [to, needed] = [args.operand('address'), args.operand('chain:amount:ETH|USDC').split(' ')]
    for (const line of await fund(await readTreasury(directory), to, needed)) console.log(line)
  }
} catch (error) {
  if (!(error instanceof ConfigurationError)) throw error
  console.error(error.message)
  process.exitCode = 1
}

async function run(): Promise<void> {
  const asked = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve())
  })
  const rehearsal = await startRehearsal({ directory, report: (line) => console.log(line) })
  try {
    const given = await writeGiven(directory, root, rehearsal)
    console.log(`The rehearsal is ready. What others give an operator: ${given}`)
    console.log('Go on in another terminal with docs/operating/production.md; Ctrl-C ends it all.')
    const failed = await Promise.race([asked, rehearsal.nodeEnded])
    if (failed !== undefined) {
      console.error(describeEnd({ ...failed, lastOutput: '' }))
      process.exitCode = 1
    }
  } finally {
    // An operator who follows the page must not begin with values of a rehearsal that has ended.
    await rm(join(directory, 'given.env'), { force: true })
    await rehearsal.stop()
  }
}
