// `npm run replay -- <folder>`: runs the readers over recorded answers of nodes, a folder per family beside `errors`, and
// prints a line per file. Each answer is read by the family's library too. Ends with 1 where one is not understood or
// differs, with 2 where there is nothing to read.
import { existsSync } from 'node:fs'
import { recordFolders, replay } from './replay/readFolder.ts'

const [folder] = process.argv.slice(2)
if (folder === undefined || !existsSync(folder)) {
  console.error(`npm run replay -- <folder>: a folder that has one or more of ${recordFolders.join(', ')}`)
  process.exitCode = 2
} else {
  process.exitCode = await replay(folder, console.log)
}
