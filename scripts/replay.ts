// `npm run replay -- <folder>`: runs the readers over recorded answers of nodes, a folder per family beside `errors`, and
// prints a line per file. Each answer is read by the family's library too. Ends with 1 where one is not understood or
// differs, with 2 where there is nothing to read.
import { existsSync } from 'node:fs'
import { oneCommand, takeCommandLine } from '@causeway/cli'
import { recordFolders, replay } from './replay/readFolder.ts'

const about = 'Reads recorded answers of nodes again, and prints a line per file.'
const notes = `The folder has one or more of ${recordFolders.join(', ')}.`
const program = oneCommand('npm run replay --', about, { operands: ['folder'], notes })
const { args, usage } = takeCommandLine(process.argv.slice(2), program)
const folder = args.operand('folder')
if (existsSync(folder)) process.exitCode = await replay(folder, console.log)
else {
  console.error(`There is no folder ${folder}.\n\n${usage}`)
  process.exitCode = 2
}
