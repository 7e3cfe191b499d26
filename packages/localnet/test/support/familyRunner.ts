// Starts the stand-ins of the other families as a network does, for tests that kill who started them:
// `familyRunner.ts <folder> <first port>`. Prints one line of JSON when their process answers.

import { startFamilyProcess } from '../../src/network/familyProcess.ts'
import { prepareDirectory } from '../../src/network/localDirectory.ts'
import { localPaths } from '../../src/network/localPaths.ts'
import { takeRunFile } from '../../src/processes/runFile.ts'
import { freeChainPorts } from './freeChainPorts.ts'

const [directory, firstPort] = process.argv.slice(2)
if (directory === undefined) throw new Error('which folder?')
const paths = localPaths(directory)
await prepareDirectory(paths)
const { runFile } = await takeRunFile(paths.runFile)
const families = await startFamilyProcess({
  paths,
  runFile,
  firstPort: Number(firstPort),
  chainPorts: await freeChainPorts(),
  repositoryRoot: process.cwd(),
  environment: { PATH: process.env['PATH'] },
})
while (!(await isOpening())) await new Promise((resolve) => setTimeout(resolve, 50))
console.log(JSON.stringify({ pid: families.process.pid }))

/** Its chains are never told it here. */
async function isOpening(): Promise<boolean> {
  const answer = await fetch(`${families.controlUrl}/ready`).catch(() => undefined)
  return answer?.status === 503
}
