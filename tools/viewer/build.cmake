# Builds the pages in a folder of its own: cmake -DNPM= -DNODE= -DSOURCE= -DFOLDER= -DPAGE= -DREPORT= -DFIRST= -DTESTS= -P build.cmake
# What npm cannot fetch (no network) leaves the page out, with a warning, and is tried again by the next build.
file(REMOVE_RECURSE ${FOLDER}/src)
file(COPY ${SOURCE}/src ${SOURCE}/page.html ${SOURCE}/report.html ${SOURCE}/first.html ${SOURCE}/build.mjs ${SOURCE}/tsconfig.json ${SOURCE}/package.json
          ${SOURCE}/package-lock.json ${SOURCE}/.npmrc DESTINATION ${FOLDER})

# The packages are those of the lock file; what tests need comes only with tests.
file(SHA256 ${SOURCE}/package-lock.json lock)
set(wanted "${lock} ${TESTS}")
set(there "")
if(EXISTS ${FOLDER}/packages)
  file(READ ${FOLDER}/packages there)
endif()
if(NOT there STREQUAL wanted)
  set(omit --omit=dev)
  if(TESTS)
    set(omit "")
  endif()
  execute_process(COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --prefer-offline --fetch-retries=5 ${omit}
                  WORKING_DIRECTORY ${FOLDER}
                  RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(failed)
    message(WARNING "npm could not install the viewer's packages, so `rtl export -F html` will not work:\n${output}")
    return()
  endif()
  file(WRITE ${FOLDER}/packages "${wanted}")
endif()

execute_process(COMMAND ${NODE} build.mjs ${PAGE} ${REPORT} ${FIRST} WORKING_DIRECTORY ${FOLDER} RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "the viewer could not be built")
endif()
