// Prints what scripts/need.sh must install for the engines that the arguments of run.mjs choose.
import { chosen, parsed } from "./options.mjs";

console.log(
    chosen(parsed(process.argv.slice(2)))
        .map(({ needs }) => needs)
        .join(" "),
);
